/** The layout of a pipeline graph: positions of jobs, and the lines between them. Nothing here renders. */
import type { Records } from '../../../api.ts'

export type Stage = Records['PipelineGraph']['stages'][number]
export type GraphJob = Stage['jobs'][number]

export const BOX = { width: 192, height: 32 }
const GAP = { x: 48, y: 10 }
const HEAD = 28
const EDGE = 4

export interface PositionedJob {
  readonly job: GraphJob
  readonly x: number
  readonly y: number
}

export interface Drawing {
  readonly width: number
  readonly height: number
  readonly heads: readonly { readonly name: string; readonly x: number }[]
  readonly jobs: readonly PositionedJob[]
  /** SVG paths of lines, each from the needed job to the job that needs it. */
  readonly lines: readonly { readonly from: string; readonly to: string; readonly path: string }[]
}

export function drawGraph(stages: readonly Stage[]): Drawing {
  const xOf = (column: number) => EDGE + column * (BOX.width + GAP.x)
  const yOf = (row: number) => HEAD + EDGE + row * (BOX.height + GAP.y)
  const jobs = stages.flatMap((stage, column) =>
    stage.jobs.map((job, row): PositionedJob => ({ job, x: xOf(column), y: yOf(row) })),
  )
  const byName = new Map(jobs.map((node) => [node.job.name, node]))
  const tallest = Math.max(0, ...stages.map((stage) => stage.jobs.length))
  return {
    width: xOf(stages.length) - GAP.x + EDGE,
    height: yOf(tallest) - GAP.y + EDGE,
    heads: stages.map(({ name }, column) => ({ name, x: xOf(column) })),
    jobs,
    lines: jobs.flatMap((to) =>
      (to.job.needs ?? []).flatMap((name) => {
        const from = byName.get(name)
        return from ? [{ from: name, to: to.job.name, path: pathOf(from, to) }] : []
      }),
    ),
  }
}

/** From the right side of one to the left side of the other; within a stage around its side. */
function pathOf(from: PositionedJob, to: PositionedJob): string {
  const [x1, y1] = [from.x + BOX.width, from.y + BOX.height / 2]
  const y2 = to.y + BOX.height / 2
  if (from.x >= to.x) {
    const x2 = to.x + BOX.width
    const out = Math.max(x1, x2) + GAP.x / 2
    return `M${x1} ${y1}C${out} ${y1} ${out} ${y2} ${x2} ${y2}`
  }
  const bend = GAP.x / 2
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${to.x - bend} ${y2} ${to.x} ${y2}`
}

/** Cut to fit into a box. */
export const shortened = (name: string, most = 21): string =>
  name.length <= most ? name : `${name.slice(0, most - 1)}…`
