/** Texts of the signature header that are no Base64 of the signature. RFC 4648, section 4 */

/** Each makes a text of a signature, by what is wrong with it. */
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

/** True when all these texts differ from the right one: the two alphabets do in two signs only. */
export function distinguishesTexts(signature: Buffer): boolean {
  return /[+/]/.test(signature.toString('base64'));
}
