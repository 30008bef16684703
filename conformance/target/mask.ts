/** Hides secrets in everything the suite records: tokens, passwords, signatures of links. */

export const MASKED = '<masked>';

/**
 * The kind of a secret; it stays readable in the mask, so that a reader knows what belongs there.
 */
export type SecretKind =
  | 'device-token'
  | 'user-token'
  | 'control-token'
  | 'tenant-token'
  | 'password'
  | 'basic'
  | 'link-signature';

/** Registers a secret with a mask. */
export type MaskSecret = (secret: string, kind?: SecretKind) => void;

/** Shorter texts are not masked: they are hardly secrets, and they occur in ordinary text. */
const SECRET_MIN_CHARACTERS = 4;

/** Credentials up to this length are invented by cases (`Bearer nonsense`) and stay visible. */
const INVENTION_MAX_CHARACTERS = 12;

const markup = /^\s*</;
/** Matches the last word of a header. A mask counts as one word, although it may contain spaces. */
const credential = /(?:<masked[^<>]*>|(?<!\S)\S+)$/;
const cookieValue = /=((?:<masked[^<>]*>|[^;,])*)/g;
/** Also matches a truncated token: its claims alone reveal more than a report should. */
const jsonWebToken = /eyJ[\w-]{8,}(?:\.[\w-]*){0,2}/g;
/** Also matches in a URL that is a parameter of another one. */
const signatureInQuery =
  /((?:[?&]|%3f|%26)[\w-]*(?:signature|sig|token)(?:=|%3d))(?!<masked)(?:(?!%26)[^&#"'\s<>\\])+/gi;
const secretName = '((?:[\\w-]*_)?(?:password|secret|token))';
/** A JSON member named like a secret, also in JSON that is a string within JSON. */
const secretMembers = [
  new RegExp(`(")${secretName}"(\\s*:\\s*)"(?!<masked)(?:\\\\.|[^"\\\\])+"`, 'gis'),
  new RegExp(
    `(\\\\")${secretName}\\\\"(\\s*:\\s*)\\\\"(?!<masked)(?:\\\\\\\\.{1,2}|[^"\\\\])+\\\\"`,
    'gis',
  ),
];

/** Collects secrets as they appear and removes them from texts. */
export class Mask {
  /** The mask of each added secret. */
  readonly #secrets = new Map<string, string>();
  /** The masks of JSON web tokens. One pattern finds all tokens, so many of them cost no time. */
  readonly #tokens = new Map<string, string>();
  #longestFirst: readonly string[] = [];

  /**
   * Masks `secret` from now on, also where it is escaped for JSON or for a query. A page received
   * in place of a token is not a secret, and a reader needs to see it.
   */
  addSecret(secret: string, kind?: SecretKind): void {
    if (secret.length < SECRET_MIN_CHARACTERS || markup.test(secret)) return;
    const mask = maskOf(kind);
    if (secret.replace(jsonWebToken, '') === '') {
      this.#tokens.set(secret, mask);
      return;
    }
    for (const form of formsOf(secret)) this.#secrets.set(form, mask);
    this.#longestFirst = [...this.#secrets.keys()].sort((a, b) => b.length - a.length);
  }

  /** Returns the text without secrets. */
  text(text: string): string {
    const maskedText = this.#longestFirst.reduce(
      (partlyMasked, secret) =>
        partlyMasked.replaceAll(secret, this.#secrets.get(secret) ?? MASKED),
      text,
    );
    const withMaskedSignatures = maskedText
      .replace(jsonWebToken, (token) => this.#tokens.get(token) ?? this.#alteredMask(token))
      .replace(signatureInQuery, `$1${maskOf('link-signature')}`);
    return secretMembers.reduce(
      (partlyMasked, member) => partlyMasked.replace(member, maskedMember),
      withMaskedSignatures,
    );
  }

  /**
   * Returns a plain JSON value with every text in it masked. The credentials of its requests are
   * added first, since a target may repeat them anywhere.
   */
  value<T>(value: T): T {
    this.#addCredentials(value);
    return this.#masked(value);
  }

  #addCredentials(value: unknown): void {
    if (value === null || typeof value !== 'object') return;
    for (const [name, item] of Object.entries(value)) {
      const text = name === 'authorization' && typeof item === 'string' ? item : '';
      const [, scheme = '', secret = ''] = /^(\w+) +(\S+)$/.exec(text) ?? [];
      if (secret.length > INVENTION_MAX_CHARACTERS && this.text(secret) === secret) {
        this.addSecret(secret, scheme.toLowerCase() === 'basic' ? 'basic' : undefined);
      }
      this.#addCredentials(item);
    }
  }

  #masked<T>(value: T): T {
    if (typeof value === 'string') return this.text(value) as T;
    if (Array.isArray(value)) return value.map((item: unknown) => this.#masked(item)) as T;
    if (value === null || typeof value !== 'object') return value;
    const entries = Object.entries(value).map(([key, item]) => [
      this.text(key),
      typeof item === 'string' ? this.#member(key, item) : this.#masked(item),
    ]);
    return Object.fromEntries(entries) as T;
  }

  /**
   * Masks anything in headers that grant access, unless it is a known secret or short enough to be
   * made up.
   */
  #member(name: string, text: string): string {
    const maskedText = this.text(text);
    if (name === 'authorization') return maskedText.replace(credential, withoutCredential);
    if (name !== 'cookie') return maskedText;
    return maskedText.replace(cookieValue, (_, value: string) => `=${withoutCredential(value)}`);
  }

  /**
   * Returns a mask that names the changed parts of a known token, since those parts are what a case
   * with an altered token tests.
   */
  #alteredMask(token: string): string {
    const parts = token.split('.');
    for (const [knownToken, mask] of this.#tokens) {
      const tokenParts = knownToken.split('.');
      if (tokenParts[1] !== parts[1] && tokenParts[2] !== parts[2]) continue;
      const names = ['header', 'claims', 'signature'];
      const changedParts = names.filter((_, index) => tokenParts[index] !== parts[index]);
      return mask.replace('>', `, other ${changedParts.join(' and ')}>`);
    }
    return MASKED;
  }
}

function withoutCredential(text: string): string {
  const isShown = text.length <= INVENTION_MAX_CHARACTERS || /^<masked[^>]*>$/.test(text);
  return isShown ? text : MASKED;
}

function maskOf(kind: SecretKind | undefined): string {
  return kind === undefined ? MASKED : `<masked:${kind}>`;
}

function formsOf(secret: string): readonly string[] {
  const escaped = JSON.stringify(secret).slice(1, -1);
  // Bodies that are not UTF-8 are recorded byte by byte.
  const bytes = Buffer.from(secret).toString('latin1');
  return [secret, escaped, encodeURIComponent(secret), bytes];
}

function maskedMember(_: string, quote: string, name: string, colon: string): string {
  return `${quote}${name}${quote}${colon}${quote}${maskOf(kindOfMember(name))}${quote}`;
}

function kindOfMember(name: string): SecretKind | undefined {
  if (/password/i.test(name)) return 'password';
  return /tenant/i.test(name) ? 'tenant-token' : undefined;
}
