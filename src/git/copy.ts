/** Copies on the same machine. A copy stands alone: it shares no file with its source, which may be removed. */
import { join } from 'node:path'
import { HOUR } from '../clock.ts'
import { folder } from './arguments.ts'
import { git } from './command.ts'
import { headOf, initialise, packRefs, placeContent, REFS_FLUSHED_LATER } from './repositories.ts'

const MAX_REFS_OUTPUT = 256 * 1024 * 1024

/**
 * Branches, tags and HEAD, with the objects these reach and no others: what was pushed over, and what hidden refs keep,
 * does not travel. A target that has refs already is the work of an earlier run and stays.
 */
export async function copyRepository(
  from: string,
  to: string,
  { signal }: { signal?: AbortSignal } = {},
): Promise<void> {
  await placeContent(to, async (draft) => {
    await initialise(draft, (await headOf(from)) ?? 'master')
    const lines = await git(from, ['for-each-ref', '--format=%(objectname) %(refname)', 'refs/heads', 'refs/tags'], {
      maxOutput: MAX_REFS_OUTPUT,
      signal,
    })
    const refs = lines
      .split('\n')
      .flatMap((line) => (line === '' ? [] : [line.split(' ') as [id: string, name: string]]))
    if (refs.length === 0) return
    await copyObjects(from, draft, [...new Set(refs.map(([id]) => id))], signal)
    const input = refs.map(([id, name]) => `create ${name} ${id}\n`).join('')
    await git(draft, ['update-ref', '--stdin'], { input, config: REFS_FLUSHED_LATER, deadline: HOUR, signal })
    await packRefs(draft, signal)
  })
}

/** One pack, mostly of parts the source has ready; it runs in the copy, so that nothing is ever written to the source. */
async function copyObjects(from: string, to: string, tips: string[], signal: AbortSignal | undefined): Promise<void> {
  const pack = folder(join(to, 'objects/pack/pack'))
  await git(to, ['pack-objects', '--revs', '--delta-base-offset', '--quiet', pack], {
    input: tips.join('\n') + '\n',
    // Quoted, or a colon in the path would make it two.
    environment: { GIT_ALTERNATE_OBJECT_DIRECTORIES: JSON.stringify(join(from, 'objects')) },
    deadline: 6 * HOUR,
    signal,
  })
}
