/** Artifacts on the target that the cases of a run share; each is uploaded on first use. */
import type { ExchangeList, TargetExchange } from '../target/exchange.ts';
import { NotObservable } from '../target/expectations.ts';
import { type CleanupLedger, noLedger } from './cleanup-ledger.ts';
import { CreatedResources } from './created-resources.ts';
import type { ResourceCounts } from './resource.ts';
import { type SampleArtifact, type SampleName, sampleOfRun } from './sample-artifacts.ts';
import type { TargetAdmin } from './target-admin.ts';

/** A sample that was uploaded to the target, with the ID that the target gave it. */
export interface UploadedArtifact extends SampleArtifact {
  readonly id: string;
  readonly bytes: Buffer;
}

/** An artifact with the exchange of its upload, which is evidence for every case that uses it. */
interface SharedUpload {
  readonly artifact: UploadedArtifact;
  readonly exchange: TargetExchange | undefined;
}

/** The artifacts of one run. */
export class SharedArtifacts {
  readonly #uploads = new Map<SampleName, Promise<SharedUpload>>();
  readonly #runId: string;
  readonly #created: CreatedResources;

  /**
   * @param runId the ID of the run, which is part of each artifact's name
   * @param ledger the ledger to which each upload is announced
   */
  constructor(runId: string, ledger: CleanupLedger = noLedger) {
    this.#runId = runId;
    this.#created = new CreatedResources(ledger);
  }

  /**
   * Returns the artifact; `admin` uploads it unless an earlier case did so.
   * @param exchangeList the record of the case, to which the exchange of the upload is added in any case
   */
  async get(
    name: SampleName,
    admin: TargetAdmin,
    exchangeList: ExchangeList,
  ): Promise<UploadedArtifact> {
    const { artifact, exchange } = await this.#uploaded(name, admin, exchangeList);
    if (exchange && !exchangeList.exchanges.includes(exchange)) exchangeList.add(exchange);
    return artifact;
  }

  #uploaded(
    name: SampleName,
    admin: TargetAdmin,
    exchangeList: ExchangeList,
  ): Promise<SharedUpload> {
    const earlierUpload = this.#uploads.get(name);
    if (earlierUpload) return earlierUpload;
    const upload = this.#upload(name, admin, exchangeList).catch((error: unknown) => {
      // A failure in one case, such as its time limit, must not affect the next case.
      this.#uploads.delete(name);
      throw error;
    });
    this.#uploads.set(name, upload);
    return upload;
  }

  /** Number of artifacts that this run uploaded. */
  get made(): ResourceCounts {
    return this.#created.made;
  }

  /** Deletes what this run uploaded and returns a line for each artifact that remains. */
  release(admin: TargetAdmin | undefined): Promise<readonly string[]> {
    return this.#created.release(admin);
  }

  async #upload(
    name: SampleName,
    admin: TargetAdmin,
    { exchanges }: ExchangeList,
  ): Promise<SharedUpload> {
    const sample = await sampleOfRun(name, this.#runId);
    const [deviceType = ''] = sample.deviceTypes;
    const announcement = await this.#created.announce({
      kind: 'artifact',
      name: sample.name,
      deviceType,
    });
    // Only this run uses the name. If the target already has the artifact, an earlier upload of the
    // run succeeded although its response was lost.
    const id =
      (await admin.uploadArtifact(sample.fileName, sample.bytes)) ??
      (await admin.findArtifact(sample.name, deviceType));
    if (id === undefined) throw new NotObservable(`the target does not accept ${sample.name}`);
    announcement.made(id);
    const exchange = exchanges.findLast(({ request }) => request.form?.name === sample.fileName);
    return { artifact: { ...sample, id }, exchange };
  }
}
