/** Polling intervals of pages without live events, with the factor that administrators set. */
import type { Records } from './api.ts'

/** The minimum, however small the factor. */
const LEAST_MS = 200
/** The maximum: a browser treats a longer timeout as zero. */
const MOST_MS = 2 ** 31 - 1

/** Null if pages must not poll. */
export const pauseOf = ({ polling_interval_multiplier: factor }: Records['WebSettings'], ms: number): number | null =>
  factor === 0 ? null : Math.min(MOST_MS, Math.max(LEAST_MS, ms * factor))
