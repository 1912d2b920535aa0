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
  file: {
    value: 'PATH',
    help: 'configuration file, relative to the root of the working copy (default: .gitlab-ci.yml)',
  },
  ref: { value: 'NAME', help: 'branch or tag (default: the current branch)' },
  event: { value: 'NAME', help: `pipeline source: ${EVENTS.join(', ')} (default: push)` },
  target: { value: 'BRANCH', help: 'target branch of a merge request (default: the default branch)' },
  variable: { value: 'K=V', many: true, help: 'pipeline variable, overrides the file; can be repeated' },
  secret: {
    value: 'NAME',
    many: true,
    help: 'pass an environment variable to the pipeline, masked in the output',
  },
  input: { value: 'K=V', many: true, help: 'value for spec: inputs, as JSON or text' },
  server: {
    value: 'URL',
    help: `server of included projects and components; access token in ${TOKEN_VARIABLE}`,
  },
  'allow-local': { help: 'allow include: remote to reach the local network' },
}

const check: Verb = {
  summary: 'Validate the CI configuration of this working copy and show the pipeline',
  details: [
    'Includes uncommitted changes and new files that are not ignored.',
    'Works without a server. Included projects and components are read from the server given with --server.',
    'Exits with 1 if the configuration is invalid.',
  ].join('\n'),
  flags: { ...flags, json: { help: 'print JSON' } },
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
  summary: 'Run the CI pipeline of this working copy locally, without a server',
  rest: 'JOB',
  details: [
    'Runs all jobs, or the named jobs. Each job runs in a clean copy of the working copy: tracked files with local changes',
    'and new files that are not ignored. Manual jobs run when named, delayed jobs run immediately. Builds, caches',
    'and artifacts are stored in mortise-ci inside the git folder. Pipelines of other projects are not run, and runner tags',
    'are ignored. Jobs have their real effects: a deployment job deploys.',
    'Exits with 0 if the pipeline succeeds or waits for a manual job, 1 if a job fails, 130 after Ctrl-C.',
  ].join('\n'),
  flags: {
    ...flags,
    needs: { help: 'also run the jobs that the named jobs need' },
    jobs: { value: 'N', short: 'j', help: 'number of concurrent jobs (default: 1)' },
    ...executorFlags,
  },
  async run(call) {
    const concurrent = numberOf(call, 'jobs', { least: 1, most: MOST_AT_A_TIME, otherwise: 1 })
    const executor = await executorOf(call)
    const { compiled, input } = await compileHere(call)
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
  const input = await optionsOf(call)
  const { compile } = await import('../ci/config/compile.ts')
  const { contextOf } = await import('../features/ci/local/context.ts')
  const { readHere } = await import('../features/ci/local/includes.ts')
  const text = await readHere(input.copy.root, input.file)
  if (text === null) throw new CannotStart(`${input.file} not found`)
  const { ref, tag } = input.copy
  const about = `${input.event} on ${tag ? 'tag ' : ''}${ref}`
  return { compiled: await compile(text, await contextOf(input)), input, about }
}

async function optionsOf(call: Call): Promise<LocalRunOptions> {
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
      throw new Misuse(`--secret ${key.slice(0, 255)}: environment variable not set`)
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
