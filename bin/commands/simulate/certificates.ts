/** Reads and checks the files of `--ca`, `--cert` and `--key` before the first request. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import type { FleetPlan } from '../../../simulator/engine/simulate-fleet.ts';
import { CommandError } from '../../output/command-error.ts';
import { exitCodes } from '../../output/exit-codes.ts';
import { readNamedFile } from '../../output/files.ts';

/**
 * Paths of PEM files: the CA certificates to trust, and the fleet's client certificate with its
 * key.
 */
export type CertificateFiles = Readonly<Record<'ca' | 'cert' | 'key', string | undefined>>;

/**
 * Returns the contents of the files; undefined when no file is named.
 * @throws CommandError when a file cannot be read or has the wrong content, or when the key does
 * not match the certificate
 */
export async function certificatesIn({
  ca,
  cert,
  key,
}: CertificateFiles): Promise<FleetPlan['tls']> {
  if ((cert === undefined) !== (key === undefined)) {
    const sentence = '--cert and --key must be given together.';
    throw new CommandError(sentence, exitCodes.usage);
  }
  if (ca === undefined && cert === undefined) return undefined;
  const caPem = ca === undefined ? undefined : await authorityIn('--ca', ca);
  if (cert === undefined || key === undefined) return caPem === undefined ? undefined : { caPem };
  const certPem = await readNamedFile('--cert', cert);
  const keyPem = await privateKeyPemIn('--key', key);
  if (!certificateIn(certPem, `--cert ${cert}`).checkPrivateKey(createPrivateKey(keyPem))) {
    throw wrongFile(`--key ${key} is not the key of the certificate in --cert ${cert}`);
  }
  return { ...(caPem !== undefined && { caPem }), certPem, keyPem };
}

/**
 * Returns the text of a file with CA certificates.
 * @throws CommandError when the file cannot be read, or contains no certificate
 */
export async function authorityIn(option: string, path: string): Promise<string> {
  const pem = await readNamedFile(option, path);
  certificateIn(pem, `${option} ${path}`);
  return pem;
}

/**
 * Returns the text of a file with a private key.
 * @throws CommandError when the file cannot be read, or contains no private key
 */
async function privateKeyPemIn(option: string, path: string): Promise<string> {
  const pem = await readNamedFile(option, path);
  privateKeyIn(pem, `${option} ${path}`);
  return pem;
}

function certificateIn(pem: string, subject: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (error) {
    throw wrongFile(`${subject} contains no PEM certificate`, error);
  }
}

function privateKeyIn(pem: string, subject: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch (error) {
    throw wrongFile(`${subject} contains no unencrypted PEM private key`, error);
  }
}

function wrongFile(problem: string, cause?: unknown): CommandError {
  return new CommandError(`${problem}; use another file.`, exitCodes.setUp, cause);
}
