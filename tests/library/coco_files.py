"""A ground truth of two images and its results, for tests that change them."""

TRUTH = {
    "images": [{"id": 20, "width": 100, "height": 50}, {"id": 3, "width": 100, "height": 50}],
    "annotations": [{"id": 5, "image_id": 20, "category_id": 7, "bbox": [1, 2, 3, 4], "area": 9.5, "iscrowd": 0},
        {"id": 4, "image_id": 3, "category_id": 2, "bbox": [0, 0, 9, 5], "area": 45, "iscrowd": 0}],
    "categories": [{"id": 7, "name": "cat"}, {"id": 2, "name": "dog"}, {"id": 9, "name": "eel"}],
}  # fmt: skip
RESULTS = [
    {"image_id": 3, "category_id": 2, "bbox": [0, 0, 9, 5], "score": 0.25},
    {"image_id": 20, "category_id": 2, "bbox": [1, 2, 3, 4], "score": 0.5},
]
