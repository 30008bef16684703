/** Reads the user's key and certificate files; reports every problem as one sentence. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { link, mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { NotAFile, plainFile } from '../../../fixtures/base/plain-file.ts';
import type { Random } from '../../../fixtures/base/random.ts';
import { SettingError } from '../../settings.ts';
import { type Authority, authorityOf, createAuthority, signingKey } from './authority.ts';

const FILE_MAX_BYTES = 1_048_576;
/** File mode: the file holds a private key. */
const OWNER_ONLY = 0o600;

const certificateBlock = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  EACCES: 'this user may not use it',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of the path is not a folder',
};

/**
 * Reads the server's key and certificate.
 * @throws SettingError when a file cannot be read or used, or the key does not match the
 * certificate
 */
export async function readIdentity(
  { certFile, keyFile }: { certFile: string; keyFile: string },
  nowMs: number,
): Promise<{ key: string; cert: string }> {
  const [cert, key] = await Promise.all([
    readText('certificate file', certFile),
    readText('key file', keyFile),
  ]);
  const subject = `TLS certificate file ${certFile}`;
  const certificate = firstCertificate(subject, cert);
  requireInDate(subject, certificate, nowMs);
  const privateKey = readKey(`TLS key file ${keyFile}`, key);
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new SettingError(
      `TLS key file ${keyFile} does not belong to the certificate in ${certFile}; name the matching key`,
    );
  }
  try {
    createSecureContext({ key, cert });
  } catch (error) {
    throw new SettingError(`${subject} cannot be used with its key: ${reason(error)}`);
  }
  return { key, cert };
}

/**
 * Reads the CA certificates that client certificates must come from, in PEM.
 * @throws SettingError when the file has none, or one is expired, not yet valid, or not a CA
 */
export async function readClientAuthorities(path: string, nowMs: number): Promise<string[]> {
  const what = `TLS client CA file ${path}`;
  const text = await readText('client CA file', path);
  const blocks = text.match(certificateBlock) ?? [];
  if (blocks.length === 0) throw new SettingError(noCertificate(what));
  for (const block of blocks) {
    const certificate = firstCertificate(what, block);
    requireInDate(what, certificate, nowMs);
    if (!certificate.ca) {
      throw new SettingError(
        `${what} holds a certificate that is not a CA certificate; name the file of the CA`,
      );
    }
  }
  return blocks;
}

/**
 * Reads the test CA from a file with its certificate and private key; creates the file, readable by
 * its owner only, when it is missing.
 * @throws SettingError when the file cannot be read, created or used
 */
export async function keptAuthority(
  path: string,
  { nowMs, random, title }: { nowMs: number; random: Random; title: string },
): Promise<Authority> {
  const present = await readText('CA file', path).catch((error: unknown) => {
    if (error instanceof UnreadableFile && error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (present === undefined) {
    const authority = await createAuthority(title, { nowMs, random });
    const isFirst = await writeOnce(path, authority.certificatePem + authority.keyPem);
    if (isFirst) return authority;
  }
  return authorityIn(path, present ?? (await readText('CA file', path)), { nowMs, random });
}

function authorityIn(
  path: string,
  text: string,
  { nowMs, random }: { nowMs: number; random: Random },
): Authority {
  const what = `TLS CA file ${path}`;
  const certificate = firstCertificate(what, text);
  requireInDate(what, certificate, nowMs);
  const key = readKey(what, text);
  const isUsable = certificate.ca && certificate.checkPrivateKey(key);
  if (!isUsable || key.asymmetricKeyType !== 'rsa') {
    throw new SettingError(
      `${what} must hold a CA certificate and its RSA key; name a file that does not exist to create a CA`,
    );
  }
  return authorityOf(certificate.toString(), signingKey(key), random);
}

/** A file cannot be read or written; `code` is the system's error code. */
class UnreadableFile extends SettingError {
  readonly code: string;

  constructor(what: string, code: string) {
    super(`TLS ${what}: ${reasons[code] ?? code}; name another file`);
    this.code = code;
  }
}

async function readText(what: string, path: string): Promise<string> {
  try {
    const file = await open(plainFile(path));
    try {
      const bytes = Buffer.alloc(FILE_MAX_BYTES + 1);
      let length = 0;
      for (let more = -1; more !== 0 && length < bytes.length; length += more) {
        more = (await file.read(bytes, length, bytes.length - length, null)).bytesRead;
      }
      if (length > FILE_MAX_BYTES) throw Object.assign(new Error(), { code: 'it is too large' });
      return bytes.toString('utf8', 0, length);
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof NotAFile) throw new UnreadableFile(`${what} ${path}`, error.message);
    throw new UnreadableFile(`${what} ${path}`, codeOf(error));
  }
}

/** Writes the file atomically; returns true when it did not exist before. */
async function writeOnce(path: string, text: string): Promise<boolean> {
  let folder: string | undefined;
  try {
    folder = await mkdtemp(`${path}.`);
    const draft = join(folder, 'draft');
    await writeFile(draft, text, { mode: OWNER_ONLY });
    // Unlike a rename, a link does not overwrite a file that another server has written meanwhile.
    await link(draft, path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw new UnreadableFile(`CA file ${path} cannot be created`, codeOf(error));
  } finally {
    if (folder !== undefined) await rm(folder, { recursive: true });
  }
}

function firstCertificate(what: string, text: string): X509Certificate {
  const [block] = text.match(certificateBlock) ?? [];
  if (block === undefined) throw new SettingError(noCertificate(what));
  try {
    return new X509Certificate(block);
  } catch (error) {
    throw new SettingError(`${what} holds a certificate that cannot be read: ${reason(error)}`);
  }
}

function noCertificate(what: string): string {
  return `${what} holds no certificate; it must be PEM, with "BEGIN CERTIFICATE"`;
}

function readKey(what: string, text: string): KeyObject {
  try {
    return createPrivateKey(text);
  } catch (error) {
    const why = /passphrase|encrypted|interrupted or cancelled/i.test(String(error))
      ? 'a private key with a passphrase; remove the passphrase'
      : 'no private key; it must be PEM, such as "BEGIN PRIVATE KEY"';
    throw new SettingError(`${what} holds ${why}`, { cause: error });
  }
}

function requireInDate(what: string, { validFrom, validTo }: X509Certificate, nowMs: number): void {
  const clockText = `the server's clock shows ${new Date(nowMs).toISOString()}`;
  if (Date.parse(validTo) <= nowMs) {
    throw new SettingError(`${what} expired at ${validTo} and ${clockText}; renew it`);
  }
  if (Date.parse(validFrom) > nowMs) {
    throw new SettingError(
      `${what} is not valid before ${validFrom} and ${clockText}; use a valid one`,
    );
  }
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : reason(error);
}
