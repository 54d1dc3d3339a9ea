"""The library's public functions: evaluate(), coco_summary(), read_coco()."""
