/** Wrong texts of the signature header: not the Base64 of the signature. RFC 4648, section 4 */

/** Functions that encode a signature wrongly, by a description of what is wrong. */
export const wrongTexts: Readonly<Record<string, (signature: Buffer) => string>> = {
  hexadecimal: (signature) => signature.toString('hex'),
  'Base64 of the Base64': (signature) =>
    Buffer.from(signature.toString('base64')).toString('base64'),
  'the URL-safe alphabet': (signature) =>
    signature.toString('base64').replaceAll('+', '-').replaceAll('/', '_'),
  'characters outside the alphabet': (signature) =>
    `${signature.toString('base64').slice(0, -4)}!*~$`,
  'the last byte missing': (signature) => signature.subarray(0, -1).toString('base64'),
};

/** Returns true if the URL-safe alphabet differs for the signature, so that every text is wrong. */
export function distinguishesTexts(signature: Buffer): boolean {
  return /[+/]/.test(signature.toString('base64'));
}
