/** Vitest's JSON reports of a suite: of the full run, and of the second run of failed files. */
import { existsSync, readFileSync } from 'node:fs'

export interface FileReport {
  readonly name: string
  readonly status: 'passed' | 'failed'
  readonly assertionResults: readonly { readonly status: string }[]
}

export const readReport = (path: string): FileReport[] =>
  (JSON.parse(readFileSync(path, 'utf8')) as { testResults: FileReport[] }).testResults

/** The second run overrides the first. */
export function readSuite(path: string): { files: FileReport[]; mended: string[] } {
  const files = readReport(`${path}.json`)
  const again = existsSync(`${path}.again.json`) ? readReport(`${path}.again.json`) : []
  const last = new Map(again.map((file) => [file.name, file]))
  return {
    files: files.map((file) => last.get(file.name) ?? file),
    mended: again.filter(({ status }) => status === 'passed').map(({ name }) => name),
  }
}
