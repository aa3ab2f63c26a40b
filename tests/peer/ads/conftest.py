from oci_user import oci_key, user  # noqa: F401  (fixtures)
