"""What every number carries: its definition, its count, its canonical form. Standard library only."""

from rushes.core.canonical import canonical_json as canonical_json
from rushes.core.canonical import canonical_line as canonical_line
from rushes.core.canonical import stored_float as stored_float
from rushes.core.definition import Definition as Definition
from rushes.core.definition import parse_signature as parse_signature
from rushes.core.definition import signature_params as signature_params
from rushes.core.estimate import Estimate as Estimate
from rushes.core.estimate import Interval as Interval
from rushes.core.estimate import Why as Why
from rushes.core.measurement import Measurement as Measurement
from rushes.core.measurement import difference as difference
from rushes.core.measurement import mean as mean
from rushes.core.reading import Reading as Reading
from rushes.core.reading import group_readings as group_readings
