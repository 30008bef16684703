/** Passive checks of statuses. Spec: Endpoints; Errors */
import type { OperationId } from '../../../fixtures/contract/operations.ts';
import { responseSummary } from '../../target/expectations.ts';
import type { NamedViolation, PassiveCheck, Violation } from '../check.ts';
import type { JudgedExchange } from '../judged-exchange.ts';
import { requirementOn } from '../response-parts.ts';

const UNAVAILABLE = 503;
const STORAGE_FULL = 507;
const NOT_FOUND = 404;
const NOT_ACCEPTABLE = 406;

/** Returns true if the server reports overload or full storage, which is not a server error. */
function isOverloaded({ status, response, operation }: JudgedExchange): boolean {
  if (status === STORAGE_FULL) return operation.method !== 'GET';
  return status === UNAVAILABLE && response.headers['retry-after'] !== undefined;
}

/** Returns true for a refusal that the contract neither lists nor excludes for the operation. */
function isOpenRefusal({ operation, status, request }: JudgedExchange): boolean {
  // A request with Accept may be answered with 406.
  const names = Object.keys(request.headers).map((name) => name.toLowerCase());
  if (status === NOT_ACCEPTABLE) return names.includes('accept');
  return operation.openRefusals?.includes(status) ?? false;
}

function responseViolation({ response }: JudgedExchange, expected: string): Violation {
  return { part: 'the status', expected, actual: responseSummary(response) };
}

function listedStatuses({ operation }: JudgedExchange): string {
  const ownStatuses = [...Object.keys(operation.success), ...operation.refusals.map(String)];
  return [...new Set([...ownStatuses, '400', '401', '403', '429'])].toSorted().join(', ');
}

/** Spec: Errors, "Unexpected server-side error"; Endpoints */
export const statusChecks: readonly PassiveCheck[] = [
  {
    id: 'no-fault',
    requirement: 'errors.no-needless-fault',
    applies: (exchange) => !isOverloaded(exchange),
    violation: (exchange) => {
      const { status, contractOperation: operation } = exchange;
      if (status < 500) return undefined;
      const violation = responseViolation(exchange, 'be below 500');
      return operation
        ? { ...violation, alsoViolated: requirementOn(operation, ['status']) }
        : violation;
    },
  },
  {
    id: 'listed-success',
    applies: ({ status, contractOperation, operation }) => {
      const isRedirect = status >= 300 && operation.authorization === 'link';
      return status < 400 && contractOperation !== undefined && !isRedirect;
    },
    violation: (exchange) => {
      const { status, operation, contractOperation } = exchange;
      if (operation.success[status] !== undefined || contractOperation === undefined)
        return undefined;
      const requirement = requirementOn(contractOperation, ['status']);
      const successStatuses = Object.keys(operation.success).join(' or ');
      return {
        ...responseViolation(exchange, `be ${successStatuses} if it is a success`),
        requirement,
      };
    },
  },
  {
    id: 'listed-refusal',
    requirement: 'errors.statuses-are-listed',
    applies: ({ status, contractOperation, isOrdinary }) =>
      status >= 400 && status < 500 && contractOperation !== undefined && isOrdinary,
    violation: (exchange) => {
      if (exchange.isNamedRefusal || isOpenRefusal(exchange)) return undefined;
      // A path with a parameter may name a missing resource, even if the operation does not list 404.
      if (exchange.status === NOT_FOUND && exchange.operation.path.includes('{')) return undefined;
      return responseViolation(exchange, `be one of ${listedStatuses(exchange)}`);
    },
  },
];

/** Returns the violation of an operation that did not answer within the time limit. */
export function missingResponseOf(operation: OperationId, message: string): NamedViolation {
  const requirement = requirementOn(operation, ['status']);
  return { part: 'the response', expected: 'arrive in time', actual: message, requirement };
}
