/**
 * A self-signed certificate for 127.0.0.1, valid until 2120, and its key. They protect nothing:
 * tests use them to serve TLS on the loopback interface.
 */

/** Private key as PKCS#8 in PEM. */
export const keyPem = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgKdW4yKilmv3tkSO/
6lV1m75aBykI3bEg6pzGyswf9bShRANCAATTK/g6LW7vlpUdrv7tKUXCHdfcjDne
5m1LtzHUyeZORN5WaOsvDtL6CgZPDW61jsNbW80T0znARXQS+ECqHHj1
-----END PRIVATE KEY-----
`;

/** Certificate in PEM. */
export const certificatePem = `-----BEGIN CERTIFICATE-----
MIIBbzCCARWgAwIBAgIBATAKBggqhkjOPQQDAjAYMRYwFAYDVQQDDA1mbGVldGJl
ZCB0ZXN0MCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAxMDAwMDAwWjAYMRYwFAYD
VQQDDA1mbGVldGJlZCB0ZXN0MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE0yv4
Oi1u75aVHa7+7SlFwh3X3Iw53uZtS7cx1MnmTkTeVmjrLw7S+goGTw1utY7DW1vN
E9M5wEV0EvhAqhx49aNOMEwwDwYDVR0TAQH/BAUwAwEB/zAaBgNVHREEEzARhwR/
AAABgglsb2NhbGhvc3QwHQYDVR0OBBYEFAxu3I6+GTN/MSUpnQ/mDToXgHxAMAoG
CCqGSM49BAMCA0gAMEUCIAtqYZrbbhYzVZL+ybf+TfnWBlNGH2yfDb7wDLZTeNGj
AiEAngzFK1oxLw+phO8EjQ22AA3Ik5Yw+xd9IRBO5/2nILI=
-----END CERTIFICATE-----
`;
