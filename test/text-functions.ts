/** Finds the exported functions that take a text in the sources, so that none is forgotten. */
import { readFile } from 'node:fs/promises'
import { globSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const FOLDERS = ['src/lib/**/*.ts', 'src/ci/config/*.ts', 'web/*.ts']
/** Parsers of texts that are next to their only caller. */
const READERS = [
  'src/api/params.ts',
  'src/features/identity/gpg-keys/pgp-key.ts',
  'src/features/identity/sign-up/email-domains.ts',
  'src/features/integrations/messages/absolute-images.ts',
  'src/features/merge-requests/suggestions/parsing.ts',
  'src/features/planning/issues/{absolute-references,upload-addresses}.ts',
  'src/features/planning/quick-actions/natural-date.ts',
  'src/features/repository/code-owners/parsing.ts',
  'src/features/repository/signatures/ssh-signature.ts',
  'web/pages/project/**/{fuzzy,graph,line-diff,log}.ts',
]

const EXPORTED = /^export (?:async )?(?:function\*? (\w+)|const (\w+)(?:: [^=\n]*)? =\s*(?:async )?)(?:<[^(]*>)?\(/gm
const TAKES_TEXT = /string|Buffer|Uint8Array/

/** In the form `src/lib/text/html.ts escapeHtml`. */
export async function textFunctions(): Promise<string[]> {
  const files = [...FOLDERS, ...READERS].flatMap((folder) => globSync(folder, { cwd: root }))
  const found = await Promise.all(
    files
      .filter((file) => !/\.test\.ts$|\.d\.ts$/.test(file))
      .map(async (file) => {
        const source = await readFile(`${root}/${file}`, 'utf8')
        return Array.from(source.matchAll(EXPORTED), ({ 0: head, 1: name, 2: other, index }) => {
          const takesText = TAKES_TEXT.test(parametersAt(source, index + head.length))
          return takesText ? [`${file} ${name ?? other}`] : []
        }).flat()
      }),
  )
  return found.flat().toSorted()
}

function parametersAt(source: string, start: number): string {
  let depth = 1
  let at = start
  for (; at < source.length && depth > 0; at++) {
    if (source[at] === '(') depth++
    if (source[at] === ')') depth--
  }
  return source.slice(start, at)
}
