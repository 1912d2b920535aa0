import { Misuse, type Call } from './verb.ts'

const EXECUTORS = ['shell', 'container'] as const

export const executorFlags = {
  executor: { value: 'NAME', help: 'shell (default) or container (docker or podman)' },
  image: { value: 'IMAGE', help: 'image for jobs without an image (default: alpine:latest)' },
}

export async function executorOf(call: Call) {
  const name = call.flags.executor ?? 'shell'
  if (!(EXECUTORS as readonly string[]).includes(name))
    throw new Misuse(`--executor must be one of ${EXECUTORS.join(', ')}`)
  if (name === 'shell') return (await import('../ci/agent/shell.ts')).shellExecutor
  const { containerExecutor } = await import('../ci/agent/container.ts')
  return containerExecutor({ image: call.flags.image ?? 'alpine:latest' })
}
