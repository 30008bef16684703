/** Hides secrets in whatever the suite writes down: tokens, passwords, signatures of links. */

export const MASKED = '<masked>';

/** What a secret is; it stays readable in the mask, so that a reader knows what belongs there. */
export type SecretKind =
  | 'device-token'
  | 'user-token'
  | 'control-token'
  | 'tenant-token'
  | 'password'
  | 'basic'
  | 'link-signature';

/** Tells a mask of a secret. */
export type LearnSecret = (secret: string, kind?: SecretKind) => void;

/** Shorter texts are no secrets worth the name, and masking them would deface everything. */
const SECRET_MIN_CHARACTERS = 4;

/** A credential up to this length is an invention of a case, such as `Bearer nonsense`. */
const INVENTION_MAX_CHARACTERS = 12;

const markup = /^\s*</;
/** Masks hold blanks, and so may the end of a header. */
const credential = /(?:<masked[^<>]*>|(?<!\S)\S+)$/;
const cookieValue = /=((?:<masked[^<>]*>|[^;,])*)/g;
/** Also one that was cut short: its claims alone say more than a report should. */
const jsonWebToken = /eyJ[\w-]{8,}(?:\.[\w-]*){0,2}/g;
/** Also in a URL that is a parameter of another one. */
const signatureInQuery =
  /((?:[?&]|%3f|%26)[\w-]*(?:signature|sig|token)(?:=|%3d))(?!<masked)(?:(?!%26)[^&#"'\s<>\\])+/gi;
const secretName = '((?:[\\w-]*_)?(?:password|secret|token))';
/** A member of JSON that is named like a secret, and the same in JSON that is text within JSON. */
const secretMembers = [
  new RegExp(`(")${secretName}"(\\s*:\\s*)"(?!<masked)(?:\\\\.|[^"\\\\])+"`, 'gis'),
  new RegExp(
    `(\\\\")${secretName}\\\\"(\\s*:\\s*)\\\\"(?!<masked)(?:\\\\\\\\.{1,2}|[^"\\\\])+\\\\"`,
    'gis',
  ),
];

/** Learns secrets as they appear and takes them out of texts. */
export class Mask {
  /** Mask of each learned text. */
  readonly #secrets = new Map<string, string>();
  /** The same for JSON web tokens, which a pattern finds, so that their number costs nothing. */
  readonly #tokens = new Map<string, string>();
  #longestFirst: readonly string[] = [];

  /**
   * From now on `secret` is masked, also where it is escaped for JSON or for a query. A page that
   * came in place of a token is no secret, and a reader has to see it.
   */
  learn(secret: string, kind?: SecretKind): void {
    if (secret.length < SECRET_MIN_CHARACTERS || markup.test(secret)) return;
    const mask = maskOf(kind);
    if (secret.replace(jsonWebToken, '') === '') {
      this.#tokens.set(secret, mask);
      return;
    }
    for (const form of formsOf(secret)) this.#secrets.set(form, mask);
    this.#longestFirst = [...this.#secrets.keys()].sort((a, b) => b.length - a.length);
  }

  /** The text without secrets. */
  text(text: string): string {
    const known = this.#longestFirst.reduce(
      (rest, secret) => rest.replaceAll(secret, this.#secrets.get(secret) ?? MASKED),
      text,
    );
    const signed = known
      .replace(jsonWebToken, (token) => this.#tokens.get(token) ?? this.#alteredMask(token))
      .replace(signatureInQuery, `$1${maskOf('link-signature')}`);
    return secretMembers.reduce((rest, member) => rest.replace(member, maskedMember), signed);
  }

  /**
   * A plain JSON value with every text in it masked. What its requests were authorised by is learned
   * first, since a target may repeat it anywhere.
   */
  value<T>(value: T): T {
    this.#learnCredentials(value);
    return this.#masked(value);
  }

  #learnCredentials(value: unknown): void {
    if (value === null || typeof value !== 'object') return;
    for (const [name, item] of Object.entries(value)) {
      const text = name === 'authorization' && typeof item === 'string' ? item : '';
      const [, scheme = '', secret = ''] = /^(\w+) +(\S+)$/.exec(text) ?? [];
      if (secret.length > INVENTION_MAX_CHARACTERS && this.text(secret) === secret) {
        this.learn(secret, scheme.toLowerCase() === 'basic' ? 'basic' : undefined);
      }
      this.#learnCredentials(item);
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

  /** Headers that grant access lose whatever is no known secret and too long for an invention. */
  #member(name: string, text: string): string {
    const known = this.text(text);
    if (name === 'authorization') return known.replace(credential, withoutCredential);
    if (name !== 'cookie') return known;
    return known.replace(cookieValue, (_, value: string) => `=${withoutCredential(value)}`);
  }

  /** Says which parts of a known token were changed, since that is what such a request is about. */
  #alteredMask(token: string): string {
    const parts = token.split('.');
    for (const [known, mask] of this.#tokens) {
      const own = known.split('.');
      if (own[1] !== parts[1] && own[2] !== parts[2]) continue;
      const names = ['header', 'claims', 'signature'];
      const changed = names.filter((_, index) => own[index] !== parts[index]);
      return mask.replace('>', `, other ${changed.join(' and ')}>`);
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
  // Bodies that are no UTF-8 are written down byte by byte.
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
