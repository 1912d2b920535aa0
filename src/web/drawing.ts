/** Pages with little data are rendered on this thread, others in the rendering threads, with a deadline. */
import type { LimitedCaller } from '../lib/async/limiter.ts'
import { OutOfTime, PoolFull } from '../lib/threads/errors.ts'
import { rendering } from '../lib/threads/rendering.ts'
import type { Drawing, Renderer } from './renderer.ts'

/** About ten milliseconds of rendering. */
const LIGHT = 60_000
const DEADLINE = 5_000
/** The weight of each value and each line, in addition to its characters. */
const EACH = 50

/** Null if it takes too long, or has to wait too long. */
export async function drawPage(renderer: Renderer, caller: LimitedCaller, drawing: Drawing): Promise<string | null> {
  if (isLight(drawing.data)) return renderer.perform(drawing)
  try {
    return await rendering.run<string>(renderer.module, drawing, { caller, deadline: DEADLINE })
  } catch (error) {
    if (error instanceof OutOfTime || error instanceof PoolFull) return null
    throw error
  }
}

/** Stops as soon as the limit is exceeded. */
export function isLight(data: unknown, most = LIGHT): boolean {
  let left = most
  const values: unknown[] = [data]
  while (values.length > 0) {
    const value = values.pop()
    left -= EACH
    if (typeof value === 'string') left -= weightOf(value, left)
    else if (typeof value === 'object' && value !== null) {
      const inside = Object.values(value)
      left -= inside.length
      if (left >= 0) values.push(...inside)
    }
    if (left < 0) return false
  }
  return true
}

/** Pages render texts line by line. */
function weightOf(text: string, most: number): number {
  let weight = text.length
  for (let at = text.indexOf('\n'); at >= 0 && weight <= most; at = text.indexOf('\n', at + 1)) weight += EACH
  return weight
}
