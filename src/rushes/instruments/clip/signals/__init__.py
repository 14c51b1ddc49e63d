"""From numbers to review signals: profiles, badges, gates, and their measured rates."""
