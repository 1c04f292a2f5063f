"""Visual and collision shapes of URDF links, with their materials."""

from __future__ import annotations

from dataclasses import replace

from dqdyn.formats.meshes import MeshFinder
from dqdyn.formats.safe_xml import Element
from dqdyn.formats.urdf.values import Values
from dqdyn.model.description import Shape

Color = tuple[float, float, float, float]

SIZES = {"sphere": ("radius",), "cylinder": ("radius", "length"), "capsule": ("radius", "length")}
"""Attributes of the shapes whose size is not one vector."""


class Shapes:
    """Reads shapes. A visual has the color of its own material, else that of the same name elsewhere in the file."""

    def __init__(self, robot: Element, values: Values, meshes: MeshFinder) -> None:
        self.values, self.meshes = values, meshes
        self.colors: dict[str, Color | None] = {}
        for material in robot.all("material"):
            name = values.text(material, "name", "a material of the robot")
            if name in self.colors:
                values.doubt(f"material {name!r}", "it is defined twice and the first one is used; remove one.")
            self.colors.setdefault(name, self._color(material, f"material {name!r}"))

    def visuals(self, link: Element, owner: str) -> tuple[Shape, ...]:
        return tuple(self._visual(element, owner) for element in link.all("visual"))

    def collisions(self, link: Element, owner: str) -> tuple[Shape, ...]:
        return tuple(self._shape(element, owner) for element in link.all("collision"))

    def colored(self, shape: Shape, owner: str) -> Shape:
        """The visual with the color of a material that any link may have defined, so once all links are read."""
        if shape.color is not None or shape.material is None:
            return shape
        if shape.material not in self.colors:
            self.values.doubt(owner, f"the material {shape.material!r} is not defined; add it to the robot.")
        return replace(shape, color=self.colors.get(shape.material))

    def _visual(self, element: Element, owner: str) -> Shape:
        shape = self._shape(element, owner)
        material = self.values.optional(element, "material", owner)
        if material is None:
            return shape
        color = self._color(material, owner)
        name = self.values.text(material, "name", owner)
        if material.children:  # a definition; exporters leave its name empty where nothing refers to it
            self.colors.setdefault(name, color)
        return replace(shape, color=color, material=name or None)

    def _color(self, material: Element, owner: str) -> Color | None:
        element = self.values.optional(self.values.known(material, owner), "color", owner)
        if element is None:
            return None
        red, green, blue, alpha = self.values.numbers(element, "rgba", owner, 4)
        if not all(0.0 <= c <= 1.0 for c in (red, green, blue, alpha)):
            self.values.doubt(owner, "a color has numbers outside of 0 to 1; scale them.")
        return red, green, blue, alpha

    def _shape(self, element: Element, owner: str) -> Shape:
        values = self.values
        values.known(element, owner)
        geometry = values.required(element, "geometry", owner)
        if len(geometry.children) != 1:
            count = len(geometry.children)
            raise values.error(geometry, owner, f"has {count} shapes in the <geometry> of a <{element.tag}>: give one.")
        origin, name = values.origin(element, owner), element.attributes.get("name")
        shape = values.known(geometry.children[0], owner)
        if shape.tag == "mesh":
            mesh = values.text(shape, "filename", owner)
            scale = values.vector(shape, "scale", owner, (1.0, 1.0, 1.0))
            return Shape("mesh", scale, origin, name, mesh, self.meshes.find(mesh))
        if shape.tag == "box":
            size: tuple[float, ...] = values.vector(shape, "size", owner)
        elif shape.tag in SIZES:
            size = tuple(values.number(shape, attribute, owner) for attribute in SIZES[shape.tag])
        else:
            known = "known are box, cylinder, sphere, capsule and mesh"
            raise values.error(shape, owner, f"has the unknown shape <{shape.tag}>: {known}.")
        if min(size) < 0.0:
            raise values.error(shape, owner, f"has a <{shape.tag}> with a negative size: make it positive.")
        return Shape(shape.tag, size, origin, name)
