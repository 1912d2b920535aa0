/** How often pages ask again where nobody tells them the news, as administrators stretch it. */
import type { Records } from './api.ts'

/** However small the factor. */
const LEAST_MS = 200
/** A browser takes a longer pause for none at all. */
const MOST_MS = 2 ** 31 - 1

/** Null where pages are not to ask. */
export const pauseOf = ({ polling_interval_multiplier: factor }: Records['WebSettings'], ms: number): number | null =>
  factor === 0 ? null : Math.min(MOST_MS, Math.max(LEAST_MS, ms * factor))
