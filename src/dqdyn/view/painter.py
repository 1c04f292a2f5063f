"""Pictures of surfaces in NumPy, lit as the pages light them: a ground with a grid, shadows, what is seen through."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dqdyn.arrays import Array
from dqdyn.view.bounds import Bounds
from dqdyn.view.camera import Camera
from dqdyn.view.markers import Flags
from dqdyn.view.raster import Fragments, ahead, fragments, nearest, weights
from dqdyn.view.surfaces import Surface
from dqdyn.view.triangles import Indices

LIGHT = np.array([0.35, -0.5, 1.0]) / np.linalg.norm([0.35, -0.5, 1.0])
SKY, HORIZON, GRID = (np.array(c) / 255.0 for c in ((238, 242, 247), (219, 226, 236), (152, 163, 181)))
SHADOW = 0.16
FINER = 2
"""Rays per pixel along each side; their mean smooths edges."""
_MOST_LAYERS = 12  # of what is seen through at one pixel; those behind are left out


@dataclass(frozen=True, eq=False)
class Drawn:
    """Faces of a surface on the screen: places (m, 3, 2), 1/depths (m, 3), normals (m, 3, 3), and which faces."""

    places: Array
    inverse: Array
    normals: Array
    face: Indices


def picture(surface: Surface, camera: Camera, bounds: Bounds, ground: Array | None = None) -> Array:
    """Red, green and blue (height, width, 3) as bytes; ``ground`` as :func:`ground_of` gives it, to be used again."""
    finer = _finer(camera)
    image = (ground_of(camera, bounds) if ground is None else ground).copy()
    if camera.eye[2] > bounds.ground:
        _shade_ground(image, surface, finer, bounds.ground)
    clear = surface.colors[:, 3] < 1.0
    solid = _drawn(surface, finer, ~clear)
    shown, depth = nearest(fragments(solid.places, solid.inverse, finer.size), finer.size)
    pixel = np.flatnonzero(shown >= 0)
    image[pixel] = _lit(surface, solid, finer, pixel, shown[pixel])
    if clear.any():
        _see_through(image, surface, _drawn(surface, finer, clear), finer, depth)
    width, height = camera.size
    mean = image.reshape(height, FINER, width, FINER, 3).mean(axis=(1, 3))
    return np.asarray(np.round(255.0 * np.clip(mean, 0.0, 1.0)), dtype=np.uint8)


def ground_of(camera: Camera, bounds: Bounds) -> Array:
    """The empty scene (pixels, 3): a sky that grows darker, and a grid on the ground that fades with distance."""
    width, height = camera.size
    y, x = (a.reshape(-1) + 0.5 for a in np.mgrid[0:height, 0:width])
    image: Array = SKY + (HORIZON - SKY) * (y / height)[:, None]
    rays = camera.rays(x, y)
    below = camera.eye[2] - bounds.ground
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = -below / rays[:, 2]  # depth at which the ray meets the ground
    hit = np.flatnonzero(np.isfinite(reach) & (reach > 0.0))
    at = camera.eye[:2] + reach[hit, None] * rays[hit, :2]
    middle, far = np.array(bounds.center[:2]), 9.0 * bounds.radius
    # m on the ground per pixel: along the view it grows as the ground recedes
    footprint = reach[hit] / camera.focal
    footprint = np.maximum(footprint, footprint * reach[hit] / max(abs(below), 1e-9) * 0.5)
    fade = np.clip(1.0 - (np.linalg.norm(at - middle, axis=1) / far - 0.15) / 0.85, 0.0, 1.0)
    cell = _cell(bounds.radius)
    strength = np.maximum(0.35 * _lines(at, cell, footprint), 0.8 * _lines(at, 5.0 * cell, footprint)) * fade**2
    image[hit] += (GRID - image[hit]) * strength[:, None]
    # Lines are smooth as they are: one ray per pixel is enough.
    return image.reshape(height, width, 3).repeat(FINER, axis=0).repeat(FINER, axis=1).reshape(-1, 3)


def _finer(camera: Camera) -> Camera:
    return Camera(camera.eye, camera.axes, (camera.size[0] * FINER, camera.size[1] * FINER))


def _cell(radius: float) -> float:
    """A round length in m, about a fifth of the radius."""
    power = 10.0 ** np.floor(np.log10(radius / 5.0))
    return float(power * next(k for k in (1, 2, 5, 10) if power * k >= radius / 5.01))


def _lines(at: Array, cell: float, footprint: Array) -> Array:
    u, w = at / cell, footprint / cell
    near = np.abs((u - 0.5) % 1.0 - 0.5).min(axis=1) / np.maximum(w, 1e-6)
    strength: Array = (1.0 - np.minimum(near, 1.0)) * np.clip(1.6 - 2.5 * w, 0.0, 1.0)
    return strength


def _drawn(surface: Surface, camera: Camera, chosen: Flags) -> Drawn:
    which = np.flatnonzero(chosen)
    seen, normals, faces, origin = ahead(camera.seen(surface.points), surface.normals, surface.faces[which])
    used, inverse = np.unique(faces, return_inverse=True)
    places, depths = camera.on_screen(seen[used])
    faces = inverse.reshape(faces.shape)
    return Drawn(places[faces], depths[faces], normals[used][faces], which[origin])


def _shade_ground(image: Array, surface: Surface, camera: Camera, ground: float) -> None:
    """Darken the ground where something solid stands between it and the light."""
    above = surface.points[:, 2] - ground
    flat = surface.points - above[:, None] * LIGHT / LIGHT[2]
    casts = surface.solid & (surface.colors[:, 3] >= 1.0) & (above[surface.faces] > -1e-9).all(axis=1)
    drawn = _drawn(Surface(flat, surface.normals, surface.faces, surface.colors, surface.solid), camera, casts)
    dark = np.zeros(len(image), dtype=bool)
    dark[fragments(drawn.places, drawn.inverse, camera.size).pixel] = True
    image[dark] *= 1.0 - SHADOW


def _lit(surface: Surface, drawn: Drawn, camera: Camera, pixel: Indices, triangle: Indices) -> Array:
    """Colors (k, 3) of what is seen of triangles at pixels."""
    x, y = (np.asarray(part + 0.5, dtype=float) for part in (pixel % camera.size[0], pixel // camera.size[0]))
    shares = weights(drawn.places[triangle], drawn.inverse[triangle], x, y)
    n = np.einsum("ki,kij->kj", shares, drawn.normals[triangle])
    n /= np.maximum(np.linalg.norm(n, axis=1, keepdims=True), 1e-12)
    v = -camera.rays(x, y)
    v /= np.linalg.norm(v, axis=1, keepdims=True)
    n = np.where(np.einsum("ij,ij->i", n, v)[:, None] < 0.0, -n, n)  # both sides of a face are seen
    base = surface.colors[drawn.face[triangle], :3] ** 2.2
    key = np.maximum(n @ LIGHT, 0.0)
    toward = v + [0.0, 0.0, 0.25]
    fill = np.maximum(np.einsum("ij,ij->i", n, toward) / np.linalg.norm(toward, axis=1), 0.0)
    half = v + LIGHT
    shine = np.maximum(np.einsum("ij,ij->i", n, half) / np.linalg.norm(half, axis=1), 0.0) ** 40
    lit = base * (0.62 * key + 0.30 * fill + 0.22 * (0.5 + 0.5 * n[:, 2]) + 0.05)[:, None] + 0.10 * shine[:, None]
    result: Array = np.clip(lit, 0.0, None) ** (1.0 / 2.2)
    return result


def _see_through(image: Array, surface: Surface, drawn: Drawn, camera: Camera, depth: Array) -> None:
    """Blend what is not opaque over the picture, from the back to the front."""
    found: Fragments = fragments(drawn.places, drawn.inverse, camera.size)
    front = found.inverse_depth > depth[found.pixel]
    pixel, triangle, near = found.pixel[front], found.triangle[front], found.inverse_depth[front]
    order = np.lexsort((-near, pixel))  # by pixel, the nearest first
    pixel, triangle = pixel[order], triangle[order]
    starts = np.flatnonzero(np.diff(pixel, prepend=-1))
    layer = np.arange(len(pixel)) - np.repeat(starts, np.diff(starts, append=len(pixel)))
    for k in range(min(int(layer.max(initial=-1)), _MOST_LAYERS - 1), -1, -1):
        own = layer == k
        opacity = surface.colors[drawn.face[triangle[own]], 3:]
        color = _lit(surface, drawn, camera, pixel[own], triangle[own])
        image[pixel[own]] += opacity * (color - image[pixel[own]])
