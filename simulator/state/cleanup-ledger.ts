/**
 * The ledger of a fleet: an append-only file of JSON lines that lists the devices and deployments
 * that the fleet creates on the server, so that they can be removed even after the simulator was
 * killed. A device is recorded before its first contact, and its ID once the server has assigned
 * one. The ledger contains no secrets.
 */
import { createHash, createPublicKey } from 'node:crypto';
import {
  closeSync,
  fchmodSync,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  writeSync,
} from 'node:fs';
import * as v from 'valibot';
import { parsedJson } from '../../fixtures/base/json.ts';
import { plainFile } from '../../fixtures/base/plain-file.ts';
import type { RunDeployment } from '../api-client/management.ts';
import type { SimulatedDevice } from '../device/device.ts';
import type { IdData } from '../identity/identity.ts';
import { FleetStateError, fileError } from './state-error.ts';

const OWNER_ONLY = 0o600;
const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const text = v.string();

const headShape = v.object({ ledger: v.literal('fleetbed-fleet-ledger/1'), baseUrl: text });
const announcedShape = v.object({
  device: count,
  identity: v.record(text, v.union([text, v.number(), v.boolean()])),
  /** SHA-256 of the public key's SubjectPublicKeyInfo, in hex. */
  key: text,
});
const madeShape = v.object({ device: count, id: text });
const deploymentShape = v.object({ deployment: text });
const removedShape = v.object({ removed: text });
/** Records that the server does not know a device without an ID. */
const absentShape = v.object({ device: count, absent: v.literal(true) });
const lineShape = v.union([
  headShape,
  announcedShape,
  madeShape,
  deploymentShape,
  removedShape,
  absentShape,
]);
type LedgerRow = v.InferOutput<typeof lineShape>;

/** A device that the fleet has created on the server, or was about to create. */
export interface LedgerDevice {
  readonly index: number;
  identity: IdData;
  /** SHA-256 of the public key with which the device was recorded. */
  key: string;
  /** IDs that the server has assigned to the device and that have not been removed. */
  readonly ids: Set<string>;
  /** True when the server may know the device under an ID that the ledger does not contain. */
  isSought: boolean;
}

/** The devices and deployments of a fleet that may still exist on its server. */
export interface LedgerContent {
  readonly baseUrl: string;
  readonly devices: ReadonlyMap<number, LedgerDevice>;
  /** IDs of deployments that have not been closed. */
  readonly deployments: ReadonlySet<string>;
}

/**
 * Returns the fingerprint of a public key in a ledger: the SHA-256 of its SubjectPublicKeyInfo.
 * Returns undefined when the text is not a public key in PEM.
 */
export function keyFingerprint(publicKeyPem: string): string | undefined {
  try {
    const der = createPublicKey(publicKeyPem).export({ type: 'spki', format: 'der' });
    return createHash('sha256').update(der).digest('hex');
  } catch {
    return undefined;
  }
}

/** A ledger that is open for appending. The owner must close it. */
export class CleanupLedger {
  readonly #path: string;
  readonly #file: number;
  /** The last ID recorded for each device; an empty string for a device without an ID. */
  readonly #recorded = new Map<number, string>();

  private constructor(path: string, file: number) {
    this.#path = path;
    this.#file = file;
  }

  /**
   * Opens or creates a ledger.
   * @throws FleetStateError when the file cannot be used or belongs to another server
   */
  static open(path: string, baseUrl: string): CleanupLedger {
    const existingLedger = readLedger(path);
    if (existingLedger !== undefined && existingLedger.baseUrl !== baseUrl) {
      throw new FleetStateError(
        `the ledger ${path} belongs to ${existingLedger.baseUrl}, not to ${baseUrl}; use another file.`,
      );
    }
    const ledger = new CleanupLedger(path, openToAppend(path));
    for (const { index, ids, isSought } of existingLedger?.devices.values() ?? []) {
      // A removed device is left out, so that it is recorded again before its next first contact.
      if (ids.size > 0 || isSought) ledger.#recorded.set(index, [...ids].at(-1) ?? '');
    }
    if (existingLedger === undefined) ledger.append({ ledger: 'fleetbed-fleet-ledger/1', baseUrl });
    return ledger;
  }

  /** Records a device before its first contact, and its ID as soon as it has one. */
  record(device: SimulatedDevice): void {
    const { index, id = '', idData, session } = device;
    const recordedId = this.#recorded.get(index);
    if (recordedId === undefined && session !== undefined) {
      const key = keyFingerprint(session.key.publicKeyPem) ?? '';
      this.append({ device: index, identity: idData, key });
      this.#recorded.set(index, '');
    }
    if (id === '' || recordedId === id) return;
    this.append({ device: index, id });
    this.#recorded.set(index, id);
  }

  /** Records a deployment that the run has created. */
  recordDeployment({ deploymentId }: RunDeployment): void {
    this.append({ deployment: deploymentId });
  }

  /**
   * Appends a line.
   * @throws FleetStateError
   */
  append(line: LedgerRow): void {
    try {
      writeSync(this.#file, `${JSON.stringify(line)}\n`);
    } catch (error) {
      throw fileError(`cannot write the ledger ${this.#path}`, error);
    }
  }

  close(): void {
    closeSync(this.#file);
  }
}

/**
 * Reads a ledger. Returns undefined when the file does not exist or is empty.
 * @throws FleetStateError when the file cannot be read or is not a ledger
 */
export function readLedger(path: string): LedgerContent | undefined {
  const reading = new LedgerReading();
  for (const [position, text] of linesOf(path).entries()) {
    const line = parsedLine(text);
    if (position === 0 && (line === undefined || !('ledger' in line))) {
      throw new FleetStateError(
        `${path} is not the ledger of a fleet; give the file that the run wrote.`,
      );
    }
    // A kill can truncate a line. It can be ignored, because the recorded step had not started.
    if (line !== undefined) reading.record(line);
  }
  const { baseUrl, devices, deployments } = reading;
  return baseUrl === undefined ? undefined : { baseUrl, devices, deployments };
}

/** Returns true when the ledger lists nothing that may still exist on the server. */
export function isEmptyLedger({ devices, deployments }: LedgerContent): boolean {
  const isLeft = ({ ids, isSought }: LedgerDevice) => ids.size > 0 || isSought;
  return deployments.size === 0 && ![...devices.values()].some(isLeft);
}

class LedgerReading {
  readonly #byId = new Map<string, LedgerDevice>();
  readonly devices = new Map<number, LedgerDevice>();
  readonly deployments = new Set<string>();
  baseUrl: string | undefined;

  record(line: LedgerRow): void {
    if ('ledger' in line) this.baseUrl = line.baseUrl;
    else if ('deployment' in line) this.deployments.add(line.deployment);
    else if ('removed' in line) this.#remove(line.removed);
    else if ('id' in line) this.#give(line.device, line.id);
    else if ('absent' in line) this.#miss(line.device);
    else this.#announce(line);
  }

  #announce({ device: index, identity, key }: v.InferOutput<typeof announcedShape>): void {
    const ids = this.devices.get(index)?.ids ?? new Set();
    this.devices.set(index, { index, identity, key, ids, isSought: true });
  }

  #give(index: number, id: string): void {
    const device = this.devices.get(index);
    if (device === undefined) return;
    device.ids.add(id);
    device.isSought = false;
    this.#byId.set(id, device);
  }

  #miss(index: number): void {
    const device = this.devices.get(index);
    if (device) device.isSought = false;
  }

  #remove(id: string): void {
    this.deployments.delete(id);
    this.#byId.get(id)?.ids.delete(id);
  }
}

function linesOf(path: string): readonly string[] {
  try {
    return readFileSync(plainFile(path), 'utf8')
      .split('\n')
      .filter((line) => line !== '');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw fileError(`cannot read the ledger ${path}`, error);
  }
}

function parsedLine(text: string): LedgerRow | undefined {
  const parsing = v.safeParse(lineShape, parsedJson(text));
  return parsing.success ? parsing.output : undefined;
}

/** Opens a file for appending. If its last line is truncated, ends that line first. */
function openToAppend(path: string): number {
  try {
    const file = openSync(plainFile(path), 'a+', OWNER_ONLY);
    // The mode passed to `openSync` applies to new files only.
    fchmodSync(file, OWNER_ONLY);
    const { size } = fstatSync(file);
    const last = Buffer.alloc(1);
    if (size > 0 && readSync(file, last, 0, 1, size - 1) === 1 && last.toString() !== '\n') {
      writeSync(file, '\n');
    }
    return file;
  } catch (error) {
    throw fileError(`cannot write the ledger ${path}`, error);
  }
}
