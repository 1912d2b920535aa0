/**
 * The commit graph of a repository in memory, with parents and dates. It answers ancestry, merge bases and the order of
 * a log without a process. A short history, and commits that are pushed later, are read commit by commit; a longer
 * history by one process. Histories that are too long, or that differ from what their commits say (shallow, grafted,
 * incomplete), are left to git: the answer is null then.
 */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { MINUTE } from '../../clock.ts'
import { DateQueue } from './date-queue.ts'
import { InFlight } from '../../lib/async/in-flight.ts'
import { nullIfMissing } from '../../lib/files/system-errors.ts'
import { resolveCommits } from '../objects/commits.ts'
import { Memory } from '../objects/memory.ts'
import { readKnown } from '../objects/objects.ts'
import { count } from '../process/arguments.ts'
import { GitFailed, gitStream } from '../process/command.ts'
import { pieces } from '../process/streams.ts'

/** Contains all ancestors of every commit in it. Commits are numbers, because ids take more memory. */
interface Graph {
  readonly serial: number
  readonly ids: string[]
  readonly numbers: Map<string, number>
  /** In seconds, as git reads them. */
  readonly dates: number[]
  /** The first parent of each commit, -1 for a root. */
  readonly first: number[]
  /** Further parents of merges, and their total number. */
  readonly others: Map<number, readonly number[]>
  more: number
  /**
   * One more than the highest level of the parents. A commit is never an ancestor of a commit on the same or a lower
   * level.
   */
  readonly levels: number[]
  /** The tips that were loaded last. */
  readonly tips: string[]
}

interface Node {
  readonly id: string
  readonly date: number
  readonly parents: readonly string[]
}

const MOST_COMMITS = 50_000
/**
 * The limit for all commits together: one commit may name ten thousand parents, and a thousand commits may name the
 * same.
 */
const MOST_PARENTS = 4 * MOST_COMMITS
const COMMIT_BYTES = 128
const UNFIT = 'unfit'

const graphs = new Memory<Graph | typeof UNFIT>('graphs of commits', (graph) =>
  graph === UNFIT ? 0 : graph.ids.length * COMMIT_BYTES,
)
const loading = new InFlight<Graph | null>()
let serials = 0

export interface WalkOptions {
  readonly firstParent?: boolean
  readonly noMerges?: boolean
  /** In seconds. The walk does not continue behind older commits. */
  readonly since?: number | undefined
  readonly until?: number | undefined
}

export interface Walk {
  readonly total: number
  /** Ids, newest first. */
  page(skip: number, limit: number): string[]
}

/**
 * All ancestors of some commits, themselves included, without the ancestors of others, in git's own order. The
 * repository must have all these ids. Unlike git, wrong clocks do not confuse the exclusion.
 */
export async function walkFrom(
  dir: string,
  from: readonly string[],
  not: readonly string[],
  request: WalkOptions = {},
): Promise<Walk | null> {
  const graph = await graphWith(dir, [...from, ...not])
  if (!graph) return null
  const [tips, others] = [numbersIn(graph, from), numbersIn(graph, not)]
  const isWhole = tips.length === 1 && others.length === 0
  const order = isWhole
    ? orderFrom(dir, graph, tips[0]!, request)
    : ordered(graph, tips, request, others.length > 0 ? paint(graph, tips, others, isLeft).marks : undefined)
  return {
    total: order.length,
    page: (skip, limit) => Array.from(order.subarray(skip, skip + limit), (number) => graph.ids[number]!),
  }
}

const isLeft = (marks: number) => marks === LEFT

/** Whether one commit is an ancestor of another, or the same. */
export async function leadsTo(dir: string, ancestor: string, descendant: string): Promise<boolean | null> {
  const graph = await graphWith(dir, [ancestor, descendant])
  if (!graph) return null
  const [target, tip] = numbersIn(graph, [ancestor, descendant]) as [number, number]
  const seen = new Set([tip])
  for (const at of seen) {
    if (at === target) return true
    eachParent(graph, at, (parent) => graph.levels[parent]! >= graph.levels[target]! && seen.add(parent))
  }
  return false
}

/** The merge bases of two commits, newest first. */
export async function basesOf(dir: string, a: string, b: string): Promise<{ id: string; date: number }[] | null> {
  const graph = await graphWith(dir, [a, b])
  if (!graph) return null
  const { bases } = paint(graph, numbersIn(graph, [a]), numbersIn(graph, [b]), (marks) => marks < STALE)
  return bases.map((at) => ({ id: graph.ids[at]!, date: graph.dates[at]! })).sort((one, other) => other.date - one.date)
}

/** How many commits each of two has that the other lacks. */
export async function countApart(dir: string, a: string, b: string): Promise<[number, number] | null> {
  const graph = await graphWith(dir, [a, b])
  if (!graph) return null
  const { left, right } = paint(graph, numbersIn(graph, [a]), numbersIn(graph, [b]), (marks) => marks < BOTH)
  return [left, right]
}

/** Returns a function that checks whether an id is an ancestor of this commit. */
export async function ancestryOf(dir: string, tip: string): Promise<((id: string) => boolean) | null> {
  const graph = await graphWith(dir, [tip])
  if (!graph) return null
  const reached = reachedFrom(dir, graph, graph.numbers.get(tip)!)
  return (id) => reached[graph.numbers.get(id) ?? -1] === 1
}

const numbersIn = ({ numbers }: Graph, ids: readonly string[]) => ids.map((id) => numbers.get(id)!)

async function graphWith(dir: string, tips: readonly string[]): Promise<Graph | null> {
  let graph: Graph | typeof UNFIT | null | undefined = graphs.get(dir, '')
  for (const tip of tips) {
    if (graph === UNFIT || graph === null) return null
    if (!graph?.numbers.has(tip)) graph = await loading.share(`${dir}\0${tip}`, () => load(dir, tip))
  }
  if (!graph || graph === UNFIT) return null
  // If another graph has replaced this one meanwhile, only that one has the latest commits.
  const { numbers } = graph
  return tips.every((tip) => numbers.has(tip)) ? graph : null
}

async function load(dir: string, tip: string): Promise<Graph | null> {
  const known = graphs.get(dir, '')
  if (known === UNFIT) return null
  try {
    if (!known && (await isGrafted(dir))) throw new Unfit()
    const nodes = (await readNew(dir, known, tip)) ?? (await askForNew(dir, known, tip))
    // Commits that were read on top of one graph do not fit another.
    const graph = known ?? graphs.get(dir, '') ?? newGraph()
    if (graph === UNFIT || !add(graph, nodes)) throw new Unfit()
    noteTip(graph, tip)
    graphs.set(dir, '', graph)
    return graph
  } catch (error) {
    const isUnfit = error instanceof Unfit || (error instanceof GitFailed && error.reason !== 'start')
    if (!isUnfit) throw error
    graphs.set(dir, '', UNFIT)
    return null
  }
}

class Unfit extends Error {}

const newGraph = (): Graph => ({
  serial: ++serials,
  ids: [],
  numbers: new Map(),
  dates: [],
  first: [],
  others: new Map(),
  more: 0,
  levels: [],
  tips: [],
})

async function isGrafted(dir: string): Promise<boolean> {
  const files = ['shallow', 'info/grafts'].map((name) => stat(join(dir, name)).catch(nullIfMissing))
  return (await Promise.all(files)).some((file) => file !== null)
}

const MOST_TIPS = 20

function noteTip({ tips }: Graph, tip: string): void {
  tips.push(tip)
  if (tips.length > MOST_TIPS) tips.shift()
}

const parentsOf = (nodes: readonly Node[]) => nodes.reduce((sum, { parents }) => sum + parents.length, 0)

/** False if a parent is missing, or the limit is exceeded. */
function add(graph: Graph, nodes: readonly Node[]): boolean {
  const { ids, numbers, dates, first, others } = graph
  const fresh = nodes.filter(({ id }) => !numbers.has(id))
  const known = new Set(fresh.map(({ id }) => id))
  if (ids.length + fresh.length > MOST_COMMITS || graph.more + parentsOf(fresh) > MOST_PARENTS) return false
  if (!fresh.every(({ parents }) => parents.every((id) => known.has(id) || numbers.has(id)))) return false
  for (const { id, date } of fresh) {
    numbers.set(id, ids.push(id) - 1)
    dates.push(date)
    graph.levels.push(0)
  }
  for (const { id, parents } of fresh) {
    const [one = -1, ...more] = parents.map((parent) => numbers.get(parent)!)
    first.push(one)
    if (more.length === 0) continue
    others.set(numbers.get(id)!, more)
    graph.more += more.length
  }
  for (const { id } of fresh) raise(graph, numbers.get(id)!)
  return true
}

/** Computes the level of a commit, after those of its ancestors. */
function raise(graph: Graph, tip: number): void {
  const { levels } = graph
  const waiting = [tip]
  for (let at = waiting.at(-1); at !== undefined; at = waiting.at(-1)) {
    const { length } = waiting
    let highest = 0
    if (levels[at] === 0) {
      eachParent(graph, at, (parent) => {
        if (levels[parent] === 0) waiting.push(parent)
        else highest = Math.max(highest, levels[parent]!)
      })
    }
    if (waiting.length > length) continue
    levels[at] ||= highest + 1
    waiting.pop()
  }
}

function eachParent({ first, others }: Graph, at: number, pageRequest: (parent: number) => void): void {
  if (first[at]! >= 0) pageRequest(first[at]!)
  others.get(at)?.forEach(pageRequest)
}

const MOST_READ = { rounds: 30, commits: 500 }
const MAX_COMMIT = 16 * 1024
/** Commits in another form are left to git. */
const PLAIN =
  /^tree [0-9a-f]{40}\n((?:parent [0-9a-f]{40}\n)*)author [^\n]*\ncommitter [^<>\n]*<[^<>\n]*> (\d{1,10}) [+-]\d{4}\n/

/** Reads the commits themselves. Null if there are too many. */
async function readNew(dir: string, known: Graph | undefined, tip: string): Promise<Node[] | null> {
  const found = new Map<string, Node>()
  let pending = [tip]
  for (let round = 0; pending.length > 0; round++) {
    if (round === MOST_READ.rounds || found.size + pending.length > MOST_READ.commits) return null
    for (const object of await readKnown(dir, pending, { maxBytes: MAX_COMMIT })) {
      const [, parents, date] = PLAIN.exec(object?.content?.toString('latin1') ?? '') ?? []
      if (!object || parents === undefined) return null
      found.set(object.id, { id: object.id, date: Number(date), parents: parents.match(/[0-9a-f]{40}/g) ?? [] })
    }
    const parents = pending.flatMap((id) => found.get(id)!.parents)
    pending = [...new Set(parents)].filter((id) => !found.has(id) && !known?.numbers.has(id))
  }
  return [...found.values()]
}

const ID_LENGTH = 40

async function askForNew(dir: string, known: Graph | undefined, tip: string): Promise<Node[]> {
  // Some of the known tips may have been deleted.
  const tips = (await resolveCommits(dir, known?.tips ?? [])).filter((id) => id !== null)
  const args = ['rev-list', '--timestamp', '--parents', '--max-count', count(MOST_COMMITS + 1), '--stdin'] as const
  const input = [tip, ...tips.map((id) => `^${id}`), ''].join('\n')
  const nodes: Node[] = []
  let named = 0
  for await (const lines of pieces(gitStream(dir, args, { input, deadline: MINUTE / 2 }), 10)) {
    for (const line of lines) {
      const at = line.indexOf(32) + 1
      // A substring of the line would keep the whole line in memory.
      const id = line.toString('latin1', at, at + ID_LENGTH)
      const parents = line
        .toString('latin1', at + ID_LENGTH)
        .split(' ')
        .slice(1)
      nodes.push({ id, date: Number(line.toString('latin1', 0, at)), parents })
      if ((named += parents.length) > MOST_PARENTS) throw new Unfit()
    }
  }
  if (!nodes.every(({ date }) => Number.isSafeInteger(date))) throw new Unfit()
  return nodes
}

const orders = new Memory<Int32Array>('orders of commits', ({ byteLength }) => byteLength)

function orderFrom(dir: string, graph: Graph, tip: number, request: WalkOptions): Int32Array {
  const { firstParent = false, noMerges = false, since, until } = request
  const keyOf = (number: number) => [graph.serial, number, firstParent, noMerges, since, until].join(' ')
  const known = orders.get(dir, keyOf(tip))
  if (known) return known
  const isWhole = !noMerges && since === undefined && until === undefined
  const order = (isWhole && extended(graph, tip, (at) => orders.get(dir, keyOf(at)))) || ordered(graph, [tip], request)
  orders.set(dir, keyOf(tip), order)
  return order
}

const MOST_STEPS = 100

/**
 * The ancestors of a commit with one parent are the commit and the ancestors of that parent. So a push needs no new
 * walk.
 */
function extended({ first, others }: Graph, tip: number, recall: (at: number) => Int32Array | undefined) {
  const newer: number[] = []
  for (let at = tip; at >= 0 && !others.has(at) && newer.length < MOST_STEPS; at = first[at]!) {
    newer.push(at)
    const rest = recall(first[at]!)
    if (!rest) continue
    const order = new Int32Array(newer.length + rest.length)
    order.set(newer)
    order.set(rest, newer.length)
    return order
  }
  return null
}

/** Walks like git: by date, adding the parents of each visited commit. Excludes ancestors of the right side. */
function ordered(
  graph: Graph,
  tips: readonly number[],
  { firstParent, noMerges, since, until }: WalkOptions,
  marks?: Uint8Array,
): Int32Array {
  const { dates, first, others } = graph
  const seen = marks ? marks.map((mark) => mark >> 1) : new Uint8Array(graph.ids.length)
  const queue = new DateQueue()
  const order: number[] = []
  const enqueue = (number: number) => {
    if (number < 0 || seen[number] !== 0) return
    seen[number] = 1
    queue.add(number, dates[number]!)
  }
  tips.forEach(enqueue)
  for (let at = queue.take(); at !== undefined; at = queue.take()) {
    const date = dates[at]!
    if (since !== undefined && date < since) continue
    const more = others.get(at)
    enqueue(first[at]!)
    if (!firstParent) more?.forEach(enqueue)
    if (!(until !== undefined && date > until) && !(noMerges && more)) order.push(at)
  }
  return Int32Array.from(order)
}

const reaches = new Memory<Uint8Array>('reachable commits', ({ byteLength }) => byteLength)

function reachedFrom(dir: string, graph: Graph, tip: number): Uint8Array {
  const key = `${graph.serial} ${tip}`
  const known = reaches.get(dir, key)
  if (known) return known
  const reached = new Uint8Array(graph.ids.length)
  for (const number of orderFrom(dir, graph, tip, {})) reached[number] = 1
  reaches.set(dir, key, reached)
  return reached
}

const LEFT = 1
const RIGHT = 2
const BOTH = LEFT | RIGHT
/** An ancestor of a common commit. */
const STALE = 4

/**
 * Marks the ancestors of the left and of the right side, while the queue contains a commit that matters. It goes from
 * the highest level down, so that no commit is visited before its descendants, and the marks of a visited commit are
 * final.
 */
function paint(graph: Graph, left: readonly number[], right: readonly number[], matters: (marks: number) => boolean) {
  const marks = new Uint8Array(graph.ids.length)
  const painted = { marks, left: 0, right: 0, bases: [] as number[] }
  const queue = new DateQueue()
  let mattering = 0
  const mark = (at: number, more: number) => {
    const was = marks[at]!
    if ((was | more) === was) return
    marks[at] = was | more
    if (was === 0) queue.add(at, graph.levels[at]!)
    else if (matters(was)) mattering--
    if (matters(was | more)) mattering++
  }
  for (const at of left) mark(at, LEFT)
  for (const at of right) mark(at, RIGHT)
  while (mattering > 0) {
    const at = queue.take()!
    const own = marks[at]!
    if (matters(own)) mattering--
    if (own === LEFT) painted.left++
    if (own === RIGHT) painted.right++
    if (own === BOTH) painted.bases.push(at)
    const onwards = own === BOTH ? BOTH | STALE : own
    eachParent(graph, at, (parent) => mark(parent, onwards))
  }
  return painted
}
