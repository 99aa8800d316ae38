"""A throwaway authority and server certificates for TLS tests, made by openssl."""

import subprocess


def openssl(*arguments):
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


def authority(folder, name="ca"):
    """Makes folder/name.crt and its key; returns the path of the certificate."""
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-keyout", folder / f"{name}.key", "-out", folder / f"{name}.crt", "-days", "2",
            "-subj", f"/CN=starlease test {name}")
    return folder / f"{name}.crt"


def server(folder, name, host, ca="ca", expired=False):
    """A certificate for `host`, signed by the authority `ca`: (certificate, key)."""
    key, request, certificate = (folder / f"{name}.{end}" for end in ("key", "csr", "crt"))
    openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-keyout", key, "-out", request, "-subj", f"/CN={host}")
    extensions = folder / f"{name}.ext"
    extensions.write_text(f"subjectAltName=DNS:{host}\n")
    days = "-1" if expired else "2"
    openssl("x509", "-req", "-in", request, "-CA", folder / f"{ca}.crt", "-CAkey",
            folder / f"{ca}.key", "-CAcreateserial", "-out", certificate, "-days", days,
            "-extfile", extensions)
    return certificate, key
