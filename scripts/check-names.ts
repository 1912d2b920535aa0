// Checks exported names and file names against the retired words: `node scripts/check-names.ts [root]`. The usual words
// that replace the retired ones are in docs/glossary.md.
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

// As a part of a name: `takeLane`, `Lanes`, `answer-lanes.ts`.
const retired: Readonly<Record<string, string>> = {
  lane: 'limiter, queue or bucket',
  place: 'scope, path or position',
  placed: 'position or scope',
  mount: 'scope',
  belonging: 'scope',
  wish: 'input or options',
  told: 'payload or message',
  said: 'message',
  heard: 'filter or message',
  asked: 'request',
  wanted: 'filter',
  shown: 'visible or presented',
  met: 'viewed',
  kept: 'stored or cached',
  talk: 'noteable',
  farewell: 'user removal',
  heir: 'successor',
  stamp: 'version key',
  standing: 'state, source or health',
  deed: 'audit event',
  hold: 'lock',
  held: 'locked',
  gitter: 'principal',
  errand: 'operation',
  visit: 'session or request',
  turn: 'mutex or tick',
  gone: 'ended or orphan',
  beside: 'embedded',
  anew: 'refresh',
  afterwards: 'effects',
  soon: 'schedule',
  again: 'retry',
  room: 'limit',
  news: 'events or updates',
  whoever: 'caller, owner or member',
}

// As a whole name.
const tooBare: Readonly<Record<string, string>> = {
  Found: 'the noun that was found',
  Given: 'input or facts',
  Named: 'the noun that is named',
  Left: 'orphans',
  Leave: 'release',
}

const exported =
  /^export (?:async )?(?:declare )?(?:abstract )?(?:function\*?|const|let|class|interface|type|enum) (\w+)/gm

const partsOf = (name: string): string[] =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)

function better(name: string): string | undefined {
  if (Object.hasOwn(tooBare, name)) return tooBare[name]
  return partsOf(name)
    .flatMap((part) => [part, part.replace(/s$/, ''), part.replace(/es$/, '')])
    .map((part) => (Object.hasOwn(retired, part) ? retired[part] : undefined))
    .find(Boolean)
}

function checkFile(root: string, path: string): string[] {
  const ofFile = better(basename(path).replace(/\..*$/, ''))
  const names = Array.from(readFileSync(join(root, path), 'utf8').matchAll(exported), ([, name]) => name!)
  return [
    ...(ofFile ? [`${path}: the file's name has a retired word: use ${ofFile}`] : []),
    ...names.flatMap((name) => {
      const instead = better(name)
      return instead ? [`${path}: ${name} has a retired word: use ${instead}`] : []
    }),
  ]
}

export function checkNames(root: string): { files: number; violations: string[] } {
  const paths = globSync('{src,web,test,bench,scripts}/**/*.{ts,tsx}', { cwd: root })
    // Migrations keep the names of their time; names of texts repeat the words of the text.
    .filter((path) => !/^(?:src\/store\/migrations\/|web\/schema|web\/texts\/)/.test(path))
    .toSorted()
  return { files: paths.length, violations: paths.flatMap((path) => checkFile(root, path)) }
}

if (import.meta.main) {
  const { files, violations } = checkNames(process.argv[2] ?? process.cwd())
  console.log(violations.length > 0 ? violations.join('\n') : `names: ${files} files, in order`)
  process.exitCode = violations.length > 0 ? 1 : 0
}
