/** Artifacts on the target that the cases of a run share; each is uploaded when first needed. */
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
  readonly #ownership = new Ownership();

  /** The artifact, uploaded by `operator` unless an earlier case, or an earlier run, did it. */
  get(name: SampleName, operator: Operator): Promise<UploadedArtifact> {
    const known = this.#uploads.get(name);
    if (known) return known;
    const upload = this.#upload(name, operator);
    this.#uploads.set(name, upload);
    return upload;
  }

  /** Deletes what this run uploaded and gives a line for each artifact that stayed. */
  release(operator: Operator | undefined): Promise<readonly string[]> {
    return this.#ownership.release(operator);
  }

  async #upload(name: SampleName, operator: Operator): Promise<UploadedArtifact> {
    const sample: SampleArtifact = sampleArtifacts[name];
    const bytes = await readSample(name);
    const uploaded = await operator.uploadArtifact(sample.fileName, bytes);
    if (uploaded !== undefined) {
      this.#ownership.owns(`artifact ${sample.name}`, async (owner) => {
        await owner?.deleteArtifact(uploaded);
      });
      return { ...sample, id: uploaded, bytes };
    }
    const [deviceType = ''] = sample.deviceTypes;
    const id = await operator.findArtifact(sample.name, deviceType);
    if (id === undefined) throw new Error(`the target refuses ${sample.name} and does not list it`);
    return { ...sample, id, bytes };
  }
}
