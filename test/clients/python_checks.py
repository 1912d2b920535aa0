"""What the scripts of python-gitlab say of what they see."""

import time

import gitlab


def same(what, seen, expected):
    if seen != expected:
        raise AssertionError(f"{what}:\n  saw      {seen!r}\n  expected {expected!r}")


def refused(what, call, status, message):
    try:
        call()
    except gitlab.exceptions.GitlabError as error:
        same(what, (error.response_code, error.error_message), (status, message))
    else:
        raise AssertionError(f"{what}: was accepted")


def attributes(thing, wanted):
    return {name: getattr(thing, name) for name in wanted}


def until(what, holds):
    deadline = time.monotonic() + 30
    while not holds():
        if time.monotonic() > deadline:
            raise AssertionError(f"{what}: not within 30 s")
        time.sleep(0.1)
