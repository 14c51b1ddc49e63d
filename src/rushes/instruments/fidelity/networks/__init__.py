"""Networks whose layers tell how alike two pictures look: AlexNet and VGG16, LPIPS's heads, and how they run fast."""
