from pkg.http import Client


def test_get():
    assert Client().get("/") == ok


def test_dynamic(thing):
    thing.send()
