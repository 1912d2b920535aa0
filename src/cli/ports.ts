import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { CannotStart, type Config } from '../config.ts'

/**
 * Checks before anything is created that the ports are free, and chooses the HTTP port if any will do. Otherwise a
 * first start that fails later would already have created the administrator, and the next start shows no password.
 */
export async function usablePort({ host, port, sshPort }: Config): Promise<number> {
  if (sshPort) await tryPort(host, sshPort, `port ${sshPort} for SSH`)
  return tryPort(host, port, `${host}:${port}`)
}

async function tryPort(host: string, port: number, name: string): Promise<number> {
  const probe = createServer().listen({ host, port })
  try {
    await once(probe, 'listening')
  } catch (cause) {
    throw new CannotStart(`cannot listen on ${name}: ${(cause as Error).message}`, { cause })
  }
  const { port: bound } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return bound
}
