"""Printed cards measured on photographs of one card each: outlines of shapes, dots, badge, size."""
