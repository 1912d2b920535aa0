import { CannotStart } from '../config.ts'
import type { LocalRunOptions } from '../features/ci/local/context.ts'
import type { PipelineSource } from '../features/ci/pipelines/model.ts'
import { executorFlags, executorOf } from './executors.ts'
import { Misuse, numberOf, type Call, type Flag, type Verb } from './verb.ts'

/** An environment variable, because every user of the machine can read command lines. */
const TOKEN_VARIABLE = 'MORTISE_CI_TOKEN'
const EVENTS: readonly PipelineSource[] = [
  'push',
  'merge_request_event',
  'schedule',
  'web',
  'api',
  'trigger',
  'pipeline',
]
const MOST_AT_A_TIME = 64
/** The exit code that shells report for a program ended by Ctrl-C. */
const INTERRUPTED = 130

const flags: Record<string, Flag> = {
  file: { value: 'PATH', help: 'the configuration, from the root of the working copy; .gitlab-ci.yml unless told' },
  ref: { value: 'NAME', help: 'the branch or tag it is for; the one that is checked out unless told' },
  event: { value: 'NAME', help: `why it is made: ${EVENTS.join(', ')}; push unless told` },
  target: { value: 'BRANCH', help: 'where a merge request would go; the default branch unless told' },
  variable: { value: 'K=V', many: true, help: 'of the pipeline, which beats those of the file; again for more' },
  secret: {
    value: 'NAME',
    many: true,
    help: 'a variable of this environment for the pipeline, masked in what it prints',
  },
  input: { value: 'K=V', many: true, help: 'of spec: inputs; the value is JSON, or else a text' },
  server: {
    value: 'URL',
    help: `where included projects and components stand; a token to read them by ${TOKEN_VARIABLE}`,
  },
  'allow-local': { help: 'let include: remote reach machines of the local network' },
}

const check: Verb = {
  summary: 'Check the CI configuration of this working copy, and show the pipeline it makes',
  details: [
    'As if it were pushed now: what is changed and not committed counts, and new files that are not ignored.',
    'Without a server; what is included of projects and components is read only from the one that --server names.',
    'Ends with 1 where the configuration is wrong.',
  ].join('\n'),
  flags: { ...flags, json: { help: 'all of it as JSON' } },
  async run(call) {
    const { compiled, about } = await compileHere(call)
    const { asJson, lineOfFault, planLines } = await import('../features/ci/local/showing.ts')
    const { errors, warnings, plan } = compiled
    if (call.switches.json) console.log(JSON.stringify(asJson(compiled), null, 2))
    else {
      for (const fault of errors) console.error(lineOfFault(fault))
      for (const warning of warnings) console.error(`warning: ${warning}`)
      if (plan) console.log(planLines(plan, about).join('\n'))
    }
    return errors.length > 0 ? 1 : 0
  },
}

const run: Verb = {
  summary: 'Run the CI pipeline of this working copy here, without a server',
  rest: 'JOB',
  details: [
    'All of it, or the jobs that are named. Each runs on a clean copy of the working copy: tracked files as they are',
    'now, and new ones that are not ignored. Manual jobs run when they are named, delayed ones at once. Builds, caches',
    'and artifacts are kept in mortise-ci of the git folder. Pipelines of other projects are not run, and tags are not',
    'looked at. What the file says is done: a job that deploys deploys.',
    'Ends with 0 where the pipeline succeeds or waits for somebody, 1 where a job fails that may not, 130 after Ctrl-C.',
  ].join('\n'),
  flags: {
    ...flags,
    needs: { help: 'run also what the named jobs need' },
    jobs: { value: 'N', short: 'j', help: 'jobs at a time; 1 unless told' },
    ...executorFlags,
  },
  async run(call) {
    const concurrent = numberOf(call, 'jobs', { least: 1, most: MOST_AT_A_TIME, otherwise: 1 })
    const executor = await executorOf(call)
    const { compiled, wish: input } = await compileHere(call)
    const { lineOfFault } = await import('../features/ci/local/showing.ts')
    const { runHere, NotRun } = await import('../features/ci/local/run.ts')
    for (const fault of compiled.errors) console.error(lineOfFault(fault))
    if (!compiled.plan) return 1
    const stopping = new AbortController()
    const { killRunning } = await import('../ci/agent/processes.ts')
    const { stopRequested } = await import('./stop.ts')
    void stopRequested().then(() => stopping.abort())
    // A forced exit must not leave a job running.
    process.once('exit', killRunning)
    const { status, hasFailed } = await runHere(compiled.plan, input, {
      named: call.words,
      withNeeds: Boolean(call.switches.needs),
      concurrent,
      executor,
      environment: process.env,
      signal: stopping.signal,
      print: (text) => process.stdout.write(text),
      isColoured: process.stdout.isTTY && !process.env.NO_COLOR,
    }).catch((error: unknown) => {
      throw error instanceof NotRun ? new CannotStart(error.message, { cause: error }) : error
    })
    if (stopping.signal.aborted) return INTERRUPTED
    return hasFailed || status === 'failed' || status === 'canceled' ? 1 : 0
  },
}

export const ci: Record<string, Verb> = { 'ci check': check, 'ci run': run }

async function compileHere(call: Call) {
  const input = await wishOf(call)
  const { compile } = await import('../ci/config/compile.ts')
  const { contextOf } = await import('../features/ci/local/context.ts')
  const { readHere } = await import('../features/ci/local/includes.ts')
  const text = await readHere(input.copy.root, input.file)
  if (text === null) throw new CannotStart(`there is no ${input.file} here`)
  const { ref, tag } = input.copy
  const about = `${input.event} on ${tag ? 'tag ' : ''}${ref}`
  return { compiled: await compile(text, await contextOf(input)), wish: input, about }
}

async function wishOf(call: Call): Promise<LocalRunOptions> {
  const { flags, lists, switches } = call
  const { openWorkingCopy, NoWorkingCopy } = await import('../features/ci/local/working-copy.ts')
  const event = EVENTS.find((known) => known === (flags.event ?? 'push'))
  if (!event) throw new Misuse(`--event must be one of ${EVENTS.join(', ')}`)
  const variables = [...(lists.variable ?? []).map((one) => variableIn('variable', one)), ...secretsOf(call)]
  const inputs = Object.fromEntries((lists.input ?? []).map(inputIn))
  const server = await serverOf(flags.server)
  const environment = process.env
  const copy = await openWorkingCopy(process.cwd(), { ref: flags.ref, environment }).catch((error: unknown) => {
    throw error instanceof NoWorkingCopy ? new CannotStart(error.message, { cause: error }) : error
  })
  return {
    copy,
    file: (flags.file ?? '.gitlab-ci.yml').replace(/^(\.?\/)+/, ''),
    event,
    target: flags.target ?? copy.default_branch,
    variables,
    inputs,
    server,
    allowLocal: Boolean(switches['allow-local']),
  }
}

function variableIn(flag: string, text: string): { key: string; value: string } {
  const [, key, value] = /^(\w{1,255})=([^]*)$/.exec(text) ?? []
  if (key === undefined || value === undefined) throw new Misuse(`--${flag} must look like KEY=value`)
  return { key, value }
}

function secretsOf({ lists }: Call) {
  return (lists.secret ?? []).map((key) => {
    const value = process.env[key]
    if (!/^\w{1,255}$/.test(key) || value === undefined)
      throw new Misuse(`--secret ${key.slice(0, 255)}: there is no such variable in this environment`)
    return { key, value, masked: true, raw: true }
  })
}

function inputIn(text: string): [string, unknown] {
  const [, key, value] = /^([\w.-]{1,255})=([^]*)$/.exec(text) ?? []
  if (key === undefined || value === undefined) throw new Misuse('--input must look like key=value')
  try {
    return [key, JSON.parse(value)]
  } catch {
    return [key, value]
  }
}

async function serverOf(url: string | undefined) {
  if (url === undefined) return null
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    throw new Misuse('--server must look like https://forge.example.com')
  const { ServerFiles } = await import('../features/ci/local/server-files.ts')
  return new ServerFiles(url, process.env[TOKEN_VARIABLE] ?? null)
}
