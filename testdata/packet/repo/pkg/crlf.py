from .http import send

def fetch(url):
    return send(url)  # hé ‮