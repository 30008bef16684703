/**
 * Which bytes of a file a device can have received: the parts that were sent of it, joined. A
 * device may have received less, never more.
 */
import type { ClientExchange, FaultAlteration } from '../../fixtures/control/client-event.ts';
import type { JudgedExchange } from '../passive/judged-exchange.ts';
import { isAltered } from './exemptions.ts';

/** More parts than this are not kept apart; the file then counts as sent. */
const PARTS_MAX = 64;
/** A device may close the connection before the padding at the end of an archive. */
const PADDING_MAX_BYTES = 10_240;

/**
 * Why what was sent is not the file: a part began elsewhere than requested (`wrong-start`), the
 * file changed between two parts (`changed`), it ended early (`short`), its bytes were altered
 * (`altered`), it went on past its end (`endless`), or the power of the device was cut (`cut`).
 */
export type DownloadFlaw = 'wrong-start' | 'changed' | 'short' | 'altered' | 'endless' | 'cut';

/** Flaws of parts that a device joins or drops; each part alone is whole. */
export const misfits: ReadonlySet<DownloadFlaw | undefined> = new Set<DownloadFlaw>([
  'wrong-start',
  'changed',
]);
/** Flaws after which a device starts from the first byte. */
const uselessFlaws = new Set<DownloadFlaw | undefined>([...misfits, 'endless', 'altered']);

/** A part of a file as it was sent. */
interface Part extends Pick<JudgedExchange, 'status'> {
  readonly from: number;
  readonly to: number;
  /** First byte that the device requested; undefined if it requested the whole file. */
  readonly requestedFrom: number | undefined;
  /** Stated length of the file; NaN if none was stated. */
  readonly totalBytes: number;
  /** Equal for the parts of one file. */
  readonly validator: string;
  readonly alteration: FaultAlteration | undefined;
  readonly isIncomplete: boolean;
  /** True if the device lacks bytes before this part, or the server has cut it. */
  readonly lacksBytes: boolean;
}

/** The parts that were sent before. */
interface EarlierParts {
  readonly flaw: DownloadFlaw | undefined;
  readonly joinedBytes: number;
  /** True if they belong to another file. */
  readonly areOfOtherFile: boolean;
}

/** Flaws that a part brings; the first one counts. */
const flawRows: readonly (readonly [
  flaw: DownloadFlaw,
  isIn: (part: Part, earlier: EarlierParts) => boolean,
])[] = [
  ['endless', ({ alteration }) => alteration === 'end'],
  ['altered', ({ alteration }) => alteration === 'bytes'],
  ['changed', ({ from }, { areOfOtherFile }) => from > 0 && areOfOtherFile],
  ['wrong-start', startsElsewhere],
];

/** The parts of one file that were sent. */
export class DownloadProgress {
  /** Length of the file in bytes; undefined if no response stated it. */
  totalBytes: number | undefined;
  /**
   * Number of bytes that were sent since the last response that failed or was cut, repeats
   * included.
   */
  sentBytes = 0;
  /** Number of responses in a row that brought nothing. */
  failures = 0;
  /** Bytes that were written of the last response that was cut; undefined if none was. */
  cutAtBytes: number | undefined;
  /**
   * True once the device has closed the connection of a part that does not belong to the others.
   */
  hasRefused = false;
  /** Everything that was ever wrong with what was sent. */
  readonly flaws = new Set<DownloadFlaw>();
  #parts: (readonly [from: number, to: number])[] = [];
  #validator: string | undefined;
  #flaw: DownloadFlaw | undefined;

  /**
   * Why the parts that were sent do not make the file; undefined if they do, or nothing was sent.
   */
  get flaw(): DownloadFlaw | undefined {
    if (this.isWhole) return undefined;
    return this.#flaw ?? (this.#parts.length > 0 ? 'short' : undefined);
  }

  /** True if every byte was sent once, and nothing was wrong with it. */
  get isWhole(): boolean {
    if (this.#parts.length > PARTS_MAX) return true;
    const [firstPart] = this.#parts;
    if (this.#flaw === 'altered' || this.#flaw === 'endless') return false;
    if (firstPart === undefined || firstPart[0] > 0) return false;
    if (this.#flaw === 'short')
      return firstPart[1] >= (this.totalBytes ?? Number.POSITIVE_INFINITY);
    return firstPart[1] + PADDING_MAX_BYTES >= (this.totalBytes ?? 0);
  }

  /** Number of bytes from the beginning that were sent without a gap. */
  get joinedBytes(): number {
    const [firstPart] = this.#parts;
    return firstPart?.[0] === 0 ? firstPart[1] : 0;
  }

  /**
   * Records the response to a download.
   * @param isNew true if the device cannot have an earlier part of the file
   */
  record(download: JudgedDownload, event: ClientExchange, isNew: boolean): void {
    const { status } = download;
    if (status === 200 || status === 206) this.#recordPart(partOf(download, event, isNew));
    else this.#recordRefusal(status);
  }

  #recordRefusal(status: number): void {
    // What was stored is of no use after a 416.
    if (status === 416) {
      this.cutAtBytes = undefined;
      this.sentBytes = 0;
    } else if (status < 300 || status >= 400) this.#fail();
  }

  #recordPart(part: Part): void {
    const { status, from, to, validator, totalBytes } = part;
    const areOfOtherFile = this.#validator !== undefined && this.#validator !== validator;
    // A fresh start, or a part of another file, replaces what was received before.
    if (status === 200 || (areOfOtherFile && from > 0)) this.#parts = [];
    // The server has replaced the file for a device that named its validator.
    if (areOfOtherFile && from === 0 && !startsElsewhere(part)) this.flaws.add('changed');
    const { joinedBytes } = this;
    this.#flaw = flawAfter(part, { flaw: this.#flaw, joinedBytes, areOfOtherFile });
    if (this.#flaw !== undefined) this.flaws.add(this.#flaw);
    this.#validator = validator;
    if (Number.isInteger(totalBytes) && totalBytes > 0) this.totalBytes = totalBytes;
    if (!misfits.has(this.#flaw)) this.#join(from, to);
    this.sentBytes += to - from;
    this.#recordEnd(part);
  }

  #recordEnd({ status, requestedFrom, isIncomplete }: Part): void {
    // The whole file in place of a part is of no use either.
    const isUseless =
      uselessFlaws.has(this.#flaw) || (status === 200 && requestedFrom !== undefined);
    this.cutAtBytes = isIncomplete && !isUseless ? this.joinedBytes : undefined;
    this.hasRefused ||= isIncomplete && misfits.has(this.#flaw);
    if (isIncomplete) this.#fail();
    else this.failures = 0;
  }

  #fail(): void {
    this.failures += 1;
    this.sentBytes = 0;
  }

  /** Records that the power of the device was cut. */
  cut(): void {
    // What was not yet stored is lost with the power.
    this.cutAtBytes = undefined;
    if (this.isWhole || this.#parts.length === 0) return;
    this.#flaw ??= 'cut';
    this.flaws.add(this.#flaw);
  }

  #join(from: number, to: number): void {
    const parts = [...this.#parts, [from, to] as const].toSorted(([a], [b]) => a - b);
    const joinedParts: (readonly [number, number])[] = [];
    for (const part of parts) {
      const lastPart = joinedParts.at(-1);
      if (lastPart === undefined || part[0] > lastPart[1]) joinedParts.push(part);
      else joinedParts[joinedParts.length - 1] = [lastPart[0], Math.max(lastPart[1], part[1])];
    }
    this.#parts = joinedParts;
  }
}

/** The facts of a download that are needed. */
type JudgedDownload = Pick<JudgedExchange, 'status' | 'response' | 'header'>;

function partOf(exchange: JudgedDownload, event: ClientExchange, isNew: boolean): Part {
  const { status } = exchange;
  const { headers } = exchange.response;
  const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers['content-range'] ?? '');
  const from = status === 206 ? Number(range?.[1] ?? 0) : 0;
  const totalBytes = Number(status === 206 ? range?.[2] : headers['content-length']);
  const requested = /^bytes=(\d+)-/.exec(exchange.header('range') ?? '')?.[1];
  const isIncomplete = !event.isDelivered;
  return {
    status,
    from,
    to: from + event.responseBytes,
    requestedFrom: requested === undefined ? undefined : Number(requested),
    totalBytes,
    validator: `${headers.etag} ${headers['last-modified']} ${totalBytes}`,
    alteration: event.alteration,
    isIncomplete,
    lacksBytes: (isIncomplete && isAltered(event)) || (isNew && from > 0),
  };
}

/** Returns true for a part that does not begin where the device requested. */
function startsElsewhere({ status, from, requestedFrom }: Part): boolean {
  return status === 206 && requestedFrom !== from;
}

/** Returns the flaw of the file after a part of it. */
function flawAfter(part: Part, earlier: EarlierParts): DownloadFlaw | undefined {
  const newFlaw = flawRows.find(([, isIn]) => isIn(part, earlier))?.[0];
  // Who requests again what is missing has not joined the part that began elsewhere.
  const isJoined = earlier.flaw !== 'wrong-start' || part.from > earlier.joinedBytes;
  const keptFlaw = part.from > 0 && isJoined ? earlier.flaw : undefined;
  return newFlaw ?? keptFlaw ?? (part.lacksBytes ? 'short' : undefined);
}
