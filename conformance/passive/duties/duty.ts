/**
 * The form of a duty of a device client: a passive rule about the requests of one device, instead
 * of about the answers of a server. Ids and sentences are those of the list of client duties.
 */
import type { PassiveRule } from '../rule.ts';
import type { ClientMemory, FleetMemory } from './client-memory.ts';

/**
 * How binding a duty is: `must` is stated or implied by the contract, or by an RFC on which it
 * builds; `should` is an RFC's SHOULD or the practice of the field; `observed` is shown and never
 * broken.
 */
type DutyLevel = 'must' | 'should' | 'observed';

/** What is known when a duty looks at an exchange. */
export interface DutyMemory {
  /** The device before this exchange. */
  readonly client: ClientMemory;
  /** All devices before this exchange. */
  readonly fleet: FleetMemory;
}

/**
 * One duty. Like every passive rule it does not apply to an exchange that it cannot decide without
 * doubt, and its violation reads "`where` must `must`, not `seen`".
 */
export interface Duty
  extends Pick<PassiveRule<DutyMemory>, 'operations' | 'applies' | 'violation'> {
  /** Area and name, such as `get.method-get`; never changes. */
  readonly id: string;
  readonly level: DutyLevel;
  /** What a device does, as a sentence with the device as its subject. */
  readonly sentence: string;
  /** Heading of the contract, or section of an RFC. */
  readonly source: string;
  /** The part of the traffic that decides it, and what excuses the device. */
  readonly looksAt: string;
  /** What the author of the client changes. */
  readonly wayOut: string;
}

/** A duty that an exchange breaks. */
export interface Finding {
  readonly duty: string;
  readonly level: DutyLevel;
  readonly sentence: string;
  readonly source: string;
  /** Sequence number of the exchange in the journal. */
  readonly entry: number;
  /** Id of the operation. */
  readonly operation: string;
  /** What is wrong, as a sentence. */
  readonly seen: string;
  readonly wayOut: string;
}

/** The text by which a journal replaces a secret. */
const MASK = '[masked]';

/** Returns true if a text holds a private key or a token, or did before it was masked. */
export function holdsSecret(text: string): boolean {
  return text.includes(MASK) || text.includes('PRIVATE KEY-----') || holdsToken(text);
}

/** The shortest first part of a JSON Web Token that is not taken for an ordinary word. */
const TOKEN_HEAD_MIN_CHARACTERS = 11;

/** A regular expression for all of this would take quadratic time on some texts. */
function holdsToken(text: string): boolean {
  return text.split(/[^\w.-]/).some((word) => {
    const parts = word.split('.');
    return parts.some(
      (part, at) =>
        part.startsWith('eyJ') &&
        part.length >= TOKEN_HEAD_MIN_CHARACTERS &&
        Boolean(parts[at + 1] && parts[at + 2]),
    );
  });
}
