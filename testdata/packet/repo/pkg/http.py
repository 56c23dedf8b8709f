"""The lowest layer."""


@retry(times=3)
@traced
def send(
    request,
    timeout=30,
):
    return connect(request.host).write(request, timeout)


class Client:
    """A client: its body is long and is never cited."""

    def get(self, url):
        return send(Request("GET", url))

    def post(self, url, body):
        return send(
            Request("POST", url, body),
            timeout=60,
        )
