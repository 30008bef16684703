/** Artifacts on the target that the cases of a run share; each is uploaded when first needed. */
import { type Ledger, noLedger } from '../ledger.ts';
import { type Made, removeThing } from '../thing.ts';
import type { Operator } from './operator.ts';
import { Ownership } from './ownership.ts';
import {
  readSample,
  type SampleArtifact,
  type SampleName,
  sampleArtifacts,
} from './sample-artifacts.ts';

/** A sample that the target has, with the id that the target gave it. */
export interface UploadedArtifact extends SampleArtifact {
  readonly id: string;
  readonly bytes: Buffer;
}

/** The artifacts of one run. */
export class SharedArtifacts {
  readonly #uploads = new Map<SampleName, Promise<UploadedArtifact>>();
  readonly #ownership: Ownership;

  /** @param ledger where each upload is announced */
  constructor(ledger: Ledger = noLedger) {
    this.#ownership = new Ownership(ledger);
  }

  /** The artifact, uploaded by `operator` unless an earlier case, or an earlier run, did it. */
  get(name: SampleName, operator: Operator): Promise<UploadedArtifact> {
    const known = this.#uploads.get(name);
    if (known) return known;
    const upload = this.#upload(name, operator).catch((error: unknown) => {
      // What went wrong for one case, such as its end, says nothing about the next one.
      this.#uploads.delete(name);
      throw error;
    });
    this.#uploads.set(name, upload);
    return upload;
  }

  /** How many artifacts were announced. */
  get made(): Made {
    return this.#ownership.made;
  }

  /** Deletes what this run uploaded and gives a line for each artifact that stayed. */
  release(operator: Operator | undefined): Promise<readonly string[]> {
    return this.#ownership.release(operator);
  }

  async #upload(name: SampleName, operator: Operator): Promise<UploadedArtifact> {
    const sample: SampleArtifact = sampleArtifacts[name];
    const bytes = await readSample(name);
    const [deviceType = ''] = sample.deviceTypes;
    const thing = { kind: 'artifact', name: sample.name, deviceType } as const;
    let isOwn = true;
    const owned = await this.#ownership.intend(thing, async (id, owner) => {
      if (isOwn) await removeThing(thing, id, owner);
    });
    const uploaded = await operator.uploadArtifact(sample.fileName, bytes);
    if (uploaded !== undefined) {
      owned.made(uploaded);
      return { ...sample, id: uploaded, bytes };
    }
    isOwn = false;
    const id = await operator.findArtifact(sample.name, deviceType);
    if (id === undefined) throw new Error(`the target refuses ${sample.name} and does not list it`);
    return { ...sample, id, bytes };
  }
}
