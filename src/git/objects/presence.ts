/** Which of many ids name commits that a repository has; one process answers for all of them. */
import { Readable } from 'node:stream'
import { HOUR } from '../../clock.ts'
import { gitStream } from '../process/command.ts'
import { pieces } from '../process/streams.ts'
import { isObjectId } from './ids.ts'

const NEWLINE = 10

/**
 * Of those given, in their order, the ones whose commit is not there. They are taken page by page, as fast as git
 * answers: only the pages under way are in memory.
 */
export async function* withoutCommit<T extends { readonly sha: string }>(
  dir: string,
  pages: AsyncIterable<readonly T[]>,
): AsyncGenerator<T> {
  const asked: T[] = []
  const malformed: T[] = []
  async function* questions() {
    for await (const page of pages) {
      const proper = page.filter(({ sha }) => isObjectId(sha))
      malformed.push(...page.filter(({ sha }) => !isObjectId(sha)))
      asked.push(...proper)
      if (proper.length > 0) yield proper.map(({ sha }) => `${sha}\n`).join('')
    }
  }
  const input = Readable.from(questions(), { highWaterMark: 1 })
  const stream = gitStream(dir, ['cat-file', '--batch-check=%(objecttype)', '--buffer'], { input, deadline: HOUR })
  for await (const answers of pieces(stream, NEWLINE)) {
    const answered = asked.splice(0, answers.length)
    for (const [at, one] of answered.entries()) if (answers[at]!.toString('latin1') !== 'commit') yield one
    yield* malformed.splice(0)
  }
  yield* malformed
}
