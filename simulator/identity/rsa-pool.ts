/**
 * A pool of RSA keys that the devices of a fleet share. The pool creates a key when the first
 * device needs it, and stores it in a folder so that later runs have the same keys.
 */
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { link, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { draftOf, removeLeftDrafts } from '../../fixtures/base/drafts.ts';
import { makeFolder } from '../../fixtures/base/make-folder.ts';
import { readPlainFile } from '../../fixtures/base/plain-file.ts';
import { type DeviceKey, heldKey } from './device-key.ts';
import { IdentityError, reasonOf } from './identity-error.ts';
import { type RsaBits, RsaMakers } from './rsa-makers.ts';

/** Progress in creating missing keys. */
export interface KeyProgress {
  readonly made: number;
  /** Number of keys found missing so far. */
  readonly total: number;
}

export interface RsaPoolOptions {
  readonly size: number;
  readonly bits: RsaBits;
  /** Folder that stores the keys between runs; without it, the keys exist as long as the pool. */
  readonly folder?: string | undefined;
  /** Called when a key is found missing, and again when it has been created. */
  readonly onProgress?: ((progress: KeyProgress) => void) | undefined;
}

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

/** A pool of RSA keys, by position. The owner must close it. */
export class RsaPool {
  readonly #options: RsaPoolOptions;
  readonly #makers = new RsaMakers();
  readonly #keys = new Map<number, Promise<DeviceKey>>();
  #made = 0;
  #missing = 0;

  constructor(options: RsaPoolOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#options.size;
  }

  get bits(): RsaBits {
    return this.#options.bits;
  }

  /**
   * Returns the key at a position from 0 to `size - 1`.
   * @throws IdentityError when the file of the key is damaged or cannot be used; FleetStopped
   */
  key(position: number): Promise<DeviceKey> {
    const cachedKey = this.#keys.get(position);
    if (cachedKey) return cachedKey;
    const key = this.#obtain(position);
    this.#keys.set(position, key);
    return key;
  }

  close(): void {
    this.#makers.close();
  }

  async #obtain(position: number): Promise<DeviceKey> {
    const savedKey = await this.#saved(position);
    if (savedKey !== undefined) return heldKey('rsa', savedKey);
    this.#notify({ missing: 1, made: 0 });
    const pem = await this.#makers.make(this.#options.bits);
    const storedPem = await this.#keep(position, pem);
    this.#notify({ missing: 0, made: 1 });
    return heldKey('rsa', storedPem);
  }

  #notify(more: { readonly missing: number; readonly made: number }): void {
    this.#missing += more.missing;
    this.#made += more.made;
    this.#options.onProgress?.({ made: this.#made, total: this.#missing });
  }

  /** Returns the stored key; undefined when the file or the folder does not exist. */
  async #saved(position: number): Promise<KeyObject | undefined> {
    const file = this.#fileOf(position);
    if (file === undefined) return undefined;
    try {
      return this.#checked(await readPlainFile(file), file);
    } catch (error) {
      if (error instanceof IdentityError) throw error;
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
      throw unusable(`cannot read ${file}`, error);
    }
  }

  #checked(pem: string, file: string): KeyObject {
    const { bits } = this.#options;
    const key = parsePrivateKey(pem);
    const isOurs = key?.asymmetricKeyType === 'rsa' && modulusOf(key) === bits;
    if (key !== undefined && isOurs) return key;
    const problem = `${file} in the RSA pool is not a private RSA key of ${bits} bits`;
    throw new IdentityError(`${problem}; remove the file, and a new key is generated.`);
  }

  /**
   * Stores a key atomically and returns the key at this position. When another process has stored
   * one first, that key is returned and this one is discarded, so that all processes use the same
   * key.
   */
  async #keep(position: number, pem: string): Promise<KeyObject> {
    const file = this.#fileOf(position);
    const { folder } = this.#options;
    if (file === undefined || folder === undefined) return createPrivateKey(pem);
    const draft = draftOf(file);
    try {
      makeFolder(folder, FOLDER_MODE);
      removeLeftDrafts(file);
      await writeFile(draft, pem, { mode: FILE_MODE });
      // A link fails when the file exists; a rename would overwrite the other process's key.
      await link(draft, file).catch(unlessThere);
    } catch (error) {
      throw unusable(`cannot write ${file}`, error);
    } finally {
      await rm(draft, { force: true });
    }
    return (await this.#saved(position)) ?? createPrivateKey(pem);
  }

  #fileOf(position: number): string | undefined {
    const { folder, bits } = this.#options;
    const name = `rsa-${bits}-${String(position).padStart(4, '0')}.pem`;
    return folder === undefined ? undefined : join(folder, name);
  }
}

function unlessThere(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
}

function unusable(problem: string, error: unknown): IdentityError {
  return new IdentityError(
    `the RSA pool ${problem}: ${reasonOf(error)}; use another folder for the pool.`,
  );
}

function parsePrivateKey(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined;
  }
}

function modulusOf(key: KeyObject): number | undefined {
  return key.asymmetricKeyDetails?.modulusLength;
}
