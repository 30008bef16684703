/** How V8 compiles the database of a server that a command starts in its own process. */
import { setFlagsFromString } from 'node:v8';

/**
 * Delays V8's optimization of the WebAssembly database. The code that creates the tables runs once,
 * and optimizing it would delay the start by 0.1 s. The budget is nearly the largest possible: the
 * engine's interpreter reaches it within a few hundred requests, other code hardly ever, and no
 * cost was measured. The flag applies to the whole process, so only commands set it, never
 * `startServer`.
 */
export function delayWasmOptimization(): void {
  setFlagsFromString('--wasm-tiering-budget=2000000000');
}
