/**
 * Compares with gitlab-ci-local on the same files: templates that ship with the server, and generated files.
 * gitlab-ci-local ignores `only` and `except`, so the files have none that matter. The comments below name other
 * differences.
 */
import { execFile } from 'node:child_process'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { dump, load } from 'js-yaml'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ciContext } from '../../../test/ci.ts'
import { makeTemporaryFolder } from '../../lib/files/temporary-folder.ts'
import { compile } from './compile.ts'
import type { PlannedJob } from './plan.ts'

const run = promisify(execFile)
const program = createRequire(import.meta.url).resolve('gitlab-ci-local')
const templates = new URL('../../features/instance/templates/contents/gitlab-ci-ymls/', import.meta.url)

// Each question starts a program, so this list has only the most telling templates, one of each kind.
const TEMPLATES = ['Auto-deploy/Auto-DevOps', 'Docker', 'Rust', 'Terraform', 'Pages/Hugo']
const SEEDS = [5, 9]

let folder: string

beforeAll(async () => {
  folder = await makeTemporaryFolder()
  const git = (...words: string[]) =>
    run('git', ['-c', 'user.name=n', '-c', 'user.email=n@a.test', ...words], { cwd: folder })
  await git('init', '-q', '-b', 'main', '.')
  await git('remote', 'add', 'origin', 'https://git.test/group/project.git')
  await git('commit', '-q', '--allow-empty', '-m', 'start')
})

afterAll(() => rm(folder, { recursive: true, force: true }))

interface Listed {
  readonly name: string
  readonly stage: string
  readonly when: string
  readonly allow_failure: unknown
  readonly rules?: readonly unknown[]
  readonly needs?: readonly { readonly job: string; readonly artifacts: boolean; readonly optional: boolean }[]
}

type Preview = Record<string, unknown> & { variables?: Record<string, unknown> }

async function ask(how: '--list-json' | '--preview', text: string): Promise<string> {
  const file = `${how.slice(2)}.yml`
  await writeFile(join(folder, file), text)
  const words = ['--file', file, how, '--no-json-schema-validation', '--state-dir', `.state-${how.slice(2)}`]
  return (await run(process.execPath, [program, ...words], { cwd: folder, maxBuffer: 1e8 })).stdout
}

/** gitlab-ci-local writes `x: [1/2]` for `x 1/2`, and no space after the comma of a matrix. */
const named = (name: string) =>
  name
    .replace(/: \[(\d+\/\d+)\]$/, ' $1')
    .replace(/: \[(.*)\]$/, (_, list: string) => `: [${list.split(',').join(', ')}]`)

/**
 * gitlab-ci-local also lists excluded jobs, in the order of the file, and needs by their name in the file. It does not
 * report that a manual job without rules may fail.
 */
function theirs(listed: readonly Listed[], stages: readonly string[], preview: Preview) {
  const here = listed.filter(({ when }) => when !== 'never')
  const mayFail = ({ name, when, rules }: Listed) => {
    const written = preview[groupOf(name)] as { allow_failure?: boolean }
    return when === 'manual' && written.allow_failure === undefined && !rules
  }
  return here
    .toSorted((a, b) => stages.indexOf(a.stage) - stages.indexOf(b.stage))
    .map((job) => ({
      name: named(job.name),
      stage: job.stage,
      when: job.when,
      allow_failure: mayFail(job) || job.allow_failure,
      // gitlab-ci-local keeps optional needs that are missing.
      needs: job.needs?.filter((need) => !need.optional || here.some((one) => groupOf(one.name) === need.job)) ?? null,
    }))
}

const groupOf = (name: string) => name.replace(/: \[.*\]$/, '')

function ours(jobs: readonly PlannedJob[]) {
  const groups = new Map(jobs.map(({ name, group }) => [name, group]))
  return jobs.map(({ name, stage, when, allow_failure, needs }) => {
    const byGroup = new Map(
      needs?.flatMap((need) =>
        need.kind === 'job'
          ? [
              [
                groups.get(need.job)!,
                { job: groups.get(need.job)!, artifacts: need.artifacts, optional: need.optional },
              ] as const,
            ]
          : [],
      ),
    )
    return { name, stage, when, allow_failure, needs: needs && [...byGroup.values()] }
  })
}

const valuesOf = (variables: readonly { key: string; value: string }[]) =>
  Object.fromEntries(variables.map(({ key, value }) => [key, value]))

/** gitlab-ci-local keeps numbers and booleans in jobs as written, and descriptions of variables. */
const texts = (variables: unknown) =>
  Object.fromEntries(
    Object.entries((variables ?? {}) as Record<string, unknown>).map(([key, value]) => [
      key,
      String(typeof value === 'object' && value !== null ? (value as { value: unknown }).value : (value ?? '')),
    ]),
  )

async function agrees(text: string): Promise<number> {
  const [list, preview, { errors, plan, definition }] = await Promise.all([
    ask('--list-json', text),
    ask('--preview', text),
    compile(text, ciContext({ changed: [] })),
  ])
  expect(errors).toEqual([])
  const { variables, ...rest } = load(preview) as Preview
  expect(plan!.stages).toEqual(rest['stages'])
  expect(ours(plan!.jobs)).toEqual(theirs(JSON.parse(list) as Listed[], plan!.stages, rest))
  expect(valuesOf(plan!.variables)).toEqual(texts(variables))
  const written = [...definition!.jobs.values()].map((job) => [job.name, job.script, valuesOf(job.variables)])
  const previewed = Object.entries(rest).flatMap(([name, value]) => {
    const job = value as { script?: unknown; variables?: unknown }
    return name.startsWith('.') || !job.script ? [] : [[name, [job.script].flat(10), texts(job.variables)]]
  })
  expect(written.filter(([, script]) => script?.length)).toEqual(previewed)
  return plan!.jobs.length
}

test.each(TEMPLATES)('the template %s', async (name) => {
  expect(await agrees(await readFile(new URL(`${name}.yml`, templates), 'utf8'))).toBeGreaterThan(0)
})

/** A seeded random generator. */
function dice(seed: number) {
  let state = seed * 2_654_435_761
  const below = (most: number) => {
    state = (Math.imul(state ^ (state >>> 15), 1_103_515_245) + 12_345) >>> 0
    return (state >>> 8) % most
  }
  return {
    below,
    one: <T>(list: readonly T[]): T => list[below(list.length)]!,
    is: (percent: number) => below(100) < percent,
  }
}

const CONDITIONS = [
  '$CI_COMMIT_BRANCH == "main"',
  '$CI_COMMIT_BRANCH != $CI_DEFAULT_BRANCH',
  '$CI_PIPELINE_SOURCE == "push" && $A',
  '$NONE',
  '$NONE == null || $A == "2"',
  '$CI_COMMIT_BRANCH =~ /^ma/',
  '$CI_COMMIT_BRANCH !~ /^MA/i',
  '($A == "1" || $B) && $CI_COMMIT_TAG == null',
  "$B == 'two words'",
]

function generate(seed: number): string {
  const { below, one, is } = dice(seed)
  const stages = ['prepare', 'build', 'check', 'ship'].slice(0, 2 + below(3))
  const rule = () => ({
    ...(is(80) && { if: one(CONDITIONS) }),
    ...(is(50) && { when: one(['on_success', 'manual', 'always', 'never', 'on_failure']) }),
    ...(is(30) && { allow_failure: is(50) }),
  })
  const file: Record<string, unknown> = {
    stages,
    variables: { A: below(3), B: 'two words', C: { value: 'c', description: 'd' } },
    default: { image: 'alpine', before_script: ['echo before'], ...(is(50) && { tags: ['t'] }) },
    '.base': { script: ['echo base', 'echo $A'], variables: { BASE: 'b', A: 'base' }, retry: below(3) },
    '.more': { extends: '.base', variables: { MORE: 1 }, allow_failure: is(50) },
  }
  const names: { name: string; stage: number }[] = []
  for (let n = 0; n < 60; n++) {
    const stage = below(stages.length)
    const earlier = names.filter((other) => other.stage <= stage)
    const script = is(30) ? ['@ref .base script@', `echo ${n}`] : [`echo ${n}`]
    file[`job ${n}`] = {
      stage: stages[stage],
      ...(is(25) ? { extends: one(['.base', '.more']) } : { script }),
      ...(is(30) && { variables: { OWN: n, A: one(['own', '1', '']) } }),
      ...(is(20) && { when: one(['manual', 'always', 'on_failure']) }),
      ...(is(20) && { allow_failure: is(50) }),
      ...(is(40) && { rules: [rule(), rule(), { when: one(['on_success', 'never', 'manual']) }] }),
      ...(is(15) && {
        parallel: one<unknown>([2, { matrix: [{ OS: ['linux', 'mac'], V: [1, 2] }, { OS: ['win'] }] }]),
      }),
      ...(earlier.length > 0 && is(35) && { needs: [{ job: one(earlier).name, optional: true, artifacts: is(50) }] }),
    }
    names.push({ name: `job ${n}`, stage })
  }
  return dump(file, { noRefs: true }).replace(/'@ref (\S+) (\S+)@'/g, '!reference [$1, $2]')
}

test.each(SEEDS)('what is generated by %i', async (seed) => {
  expect(await agrees(generate(seed))).toBeGreaterThan(5)
})
