/** Hides secrets in whatever the suite writes down: tokens, passwords, signatures of links. */

export const MASKED = '<masked>';

/** Shorter texts are no secrets worth the name, and masking them would deface everything. */
const SECRET_MIN_CHARACTERS = 4;

const jsonWebToken = /eyJ[\w-]{4,}\.[\w-]+\.[\w-]*/g;
const signatureInQuery = /([?&][\w-]*(?:signature|sig|token)=)[^&#"'\s<>\\]+/gi;

/** Learns secrets as they appear and takes them out of texts. */
export class Mask {
  readonly #secrets = new Set<string>();

  /** From now on `secret` is masked, also where it is escaped for JSON or for a query. */
  learn(secret: string): void {
    if (secret.length < SECRET_MIN_CHARACTERS) return;
    this.#secrets.add(secret);
    this.#secrets.add(JSON.stringify(secret).slice(1, -1));
    this.#secrets.add(encodeURIComponent(secret));
  }

  /** The text without secrets. */
  text(text: string): string {
    const longestFirst = [...this.#secrets].sort((a, b) => b.length - a.length);
    const known = longestFirst.reduce((rest, secret) => rest.replaceAll(secret, MASKED), text);
    return known.replace(jsonWebToken, MASKED).replace(signatureInQuery, `$1${MASKED}`);
  }

  /** A plain JSON value with every text in it masked. */
  value<T>(value: T): T {
    if (typeof value === 'string') return this.text(value) as T;
    if (Array.isArray(value)) return value.map((item: unknown) => this.value(item)) as T;
    if (value === null || typeof value !== 'object') return value;
    const entries = Object.entries(value).map(([key, item]) => [this.text(key), this.value(item)]);
    return Object.fromEntries(entries) as T;
  }
}
