// Checks that nothing grows for as long as a process lives: `node scripts/check-caches.ts [root]`. A cache is an `Lru` or
// a `Memory`, which share the memory that `MORTISE_CACHE_MEMORY` allows. A map that starts empty and stands outside of
// all functions is listed here, with what empties it.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const listed: Readonly<Record<string, string>> = {
  'src/ci/agent/processes.ts running': 'entries end with their process',
  'src/features/ci/runner-protocol/picking.ts kept': 'entries end with the work they name',
  'src/features/repository/repositories/archives.ts running': 'entries end with the work they name',
  'src/forge.ts templates': 'one per database server, in test processes only',
  'src/git/process/launcher-process.ts orders': 'entries end with their program',
  'src/git/process/launcher-process.ts programs': 'entries end with their program',
  'src/git/process/readers.ts running': 'MAX_READERS',
  'src/git/process/readers.ts shared': 'entries end when the reader has been idle for seconds',
  'src/git/storage/pools.ts running': 'entries end with the work they name',
  'src/jobs/processes.ts living': 'one per open store',
  'src/lib/async/mutex.ts last': 'entries end with the work they name',
  'src/lib/threads/thread.ts waiting': 'entries end with their answer',
  'src/store/lookups.ts numbers': 'one per text of a compiled query',
  'src/store/postgres.ts lastingPools': 'one per database server, in test processes only',
  'src/store/temporary.ts servers': 'one per database server, in test processes only',
}

const emptyMap = /^(?:export )?(?:const|let) (\w+)(?:: [^=\n]+)? = new (?:Map|Set)(?:<[^\n]*>)?\(\)/gm

export function checkCaches(root: string): { files: number; violations: string[] } {
  const files = globSync(['src/**/*.ts', 'web/**/*.{ts,tsx}'], { cwd: root }).filter((file) => !/\.test\.ts/.test(file))
  const found = files.toSorted().flatMap((file) => {
    const names = readFileSync(join(root, file), 'utf8').matchAll(emptyMap)
    return Array.from(names, ([, name]) => `${file} ${name}`)
  })
  const violations = found
    .filter((one) => !(one in listed))
    .map((one) => `${one}: make it an Lru, or list in scripts/check-caches.ts what empties it`)
  return { files: files.length, violations }
}

/** Entries of the list that name nothing any more. */
export function outdated(root: string): string[] {
  return Object.keys(listed).filter((one) => {
    const [file, name] = one.split(' ') as [string, string]
    const found = readFileSync(join(root, file), 'utf8').matchAll(emptyMap)
    return !Array.from(found, ([, other]) => other).includes(name)
  })
}

if (import.meta.main) {
  const root = process.argv[2] ?? join(import.meta.dirname, '..')
  const { files, violations } = checkCaches(root)
  const all = [...violations, ...(process.argv[2] ? [] : outdated(root).map((one) => `${one}: listed, but not there`))]
  for (const violation of all) console.error(violation)
  if (all.length > 0) process.exitCode = 1
  else console.log(`caches: ${files} files, nothing grows without a limit`)
}
