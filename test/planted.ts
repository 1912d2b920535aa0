/** A small source tree in a temporary folder, for the checks in `scripts/`. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

export type Tree = Record<string, string>

export function plant(tree: Tree): Disposable & { root: string } {
  const root = mkdtempSync(join(tmpdir(), 'mortise-tree-'))
  for (const [path, source] of Object.entries(tree)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), source)
  }
  return { root, [Symbol.dispose]: () => rmSync(root, { recursive: true }) }
}
