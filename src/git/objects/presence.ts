/** Checks which ids name commits that a repository has, with one process for all ids. */
import { Readable } from 'node:stream'
import { HOUR } from '../../clock.ts'
import { gitStream } from '../process/command.ts'
import { pieces } from '../process/streams.ts'
import { isObjectId } from './ids.ts'

const NEWLINE = 10

/**
 * Yields the items whose commit does not exist, in order. Reads the items page by page as fast as git answers, so that
 * memory holds only the current pages.
 */
export async function* withoutCommit<T extends { readonly sha: string }>(
  dir: string,
  pages: AsyncIterable<readonly T[]>,
): AsyncGenerator<T> {
  const pending: T[] = []
  const malformed: T[] = []
  async function* questions() {
    for await (const page of pages) {
      const proper = page.filter(({ sha }) => isObjectId(sha))
      malformed.push(...page.filter(({ sha }) => !isObjectId(sha)))
      pending.push(...proper)
      if (proper.length > 0) yield proper.map(({ sha }) => `${sha}\n`).join('')
    }
  }
  const input = Readable.from(questions(), { highWaterMark: 1 })
  const stream = gitStream(dir, ['cat-file', '--batch-check=%(objecttype)', '--buffer'], { input, deadline: HOUR })
  for await (const answers of pieces(stream, NEWLINE)) {
    const answered = pending.splice(0, answers.length)
    for (const [at, one] of answered.entries()) if (answers[at]!.toString('latin1') !== 'commit') yield one
    yield* malformed.splice(0)
  }
  yield* malformed
}
