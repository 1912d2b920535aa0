/** Shows broadcast messages of administrators to users at a terminal. */
import { timestamp } from '../clock.ts'
import type { App } from '../context.ts'

const WIDTH = 72
const TEXT_WIDTH = 68
const RULE = '='.repeat(WIDTH)

/** The newest current broadcast message in a frame. Empty without one. */
export async function announcement({ db, clock }: App): Promise<string[]> {
  const now = timestamp(clock)
  const current = await db
    .selectFrom('broadcast_messages')
    .select('message')
    .where('starts_at', '<=', now)
    .where('ends_at', '>', now)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return current ? ['', RULE, '', ...linesOf(current.message).map(centred), '', RULE, ''] : []
}

const centred = (line: string) => ' '.repeat(Math.max(0, Math.floor((WIDTH - line.length) / 2))) + line

/** Wraps between words. A word that is too long gets its own line. */
function linesOf(message: string): string[] {
  const lines: string[] = []
  for (const word of message.split(/\s+/).filter(Boolean)) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= TEXT_WIDTH) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}
