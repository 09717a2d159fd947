# SPDX-License-Identifier: Apache-2.0
"""What the modules for older Pythons use of `dataclasses`, which Python 3.6 does not have (older_python.py)."""

_ABSENT = object()


class _Default:
    def __init__(self, make):
        self.make = make


def field(default_factory):
    return _Default(default_factory)


def dataclass(cls=None, frozen=False):
    return (lambda one: _complete(one, frozen)) if cls is None else _complete(cls, frozen)


def replace(instance, **changes):
    return type(instance)(**dict(vars(instance), **changes))


def _complete(cls, frozen):
    names = list(cls.__annotations__)
    defaults = {name: getattr(cls, name) for name in names if hasattr(cls, name)}

    def initialise(self, *values, **named):
        given = dict(zip(names, values), **named)
        for name in names:
            value = given.pop(name, defaults.get(name, _ABSENT))
            if value is _ABSENT:
                raise TypeError(f"{cls.__name__} needs {name}")
            object.__setattr__(self, name, value.make() if isinstance(value, _Default) else value)
        if given or len(values) > len(names):
            raise TypeError(f"{cls.__name__} has no {', '.join(given) or 'so many fields'}")

    def key(self):
        return tuple(getattr(self, name) for name in names)

    def refuse(self, name, value):
        raise AttributeError(f"{cls.__name__}.{name} cannot be set")

    cls.__init__ = initialise
    cls.__eq__ = lambda self, other: type(other) is cls and key(self) == key(other)
    cls.__hash__ = (lambda self: hash(key(self))) if frozen else None
    cls.__repr__ = lambda self: f"{cls.__name__}{key(self)}"
    if frozen:
        cls.__setattr__ = refuse
    return cls
