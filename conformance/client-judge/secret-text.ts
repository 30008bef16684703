/** Recognizes secrets in texts, also those that a journal has masked. */

/** The text by which a journal replaces a secret. */
export const MASK = '[masked]';

/** Returns true if a text holds a private key or a token, or did before it was masked. */
export function holdsSecret(text: string): boolean {
  return text.includes(MASK) || text.includes('PRIVATE KEY-----') || holdsToken(text);
}

/** The shortest first part of a JSON Web Token that is not taken for an ordinary word. */
const TOKEN_HEAD_MIN_CHARACTERS = 11;

/** A regular expression for all of this would take quadratic time on some texts. */
function holdsToken(text: string): boolean {
  return text.split(/[^\w.-]/).some((word) => {
    const parts = word.split('.');
    return parts.some(
      (part, at) =>
        part.startsWith('eyJ') &&
        part.length >= TOKEN_HEAD_MIN_CHARACTERS &&
        Boolean(parts[at + 1] && parts[at + 2]),
    );
  });
}
