import { serve } from './app.ts'
import { BadSetting, readConfig } from './config.ts'

try {
  const config = readConfig({}, process.env)
  const forge = await serve(config)
  console.log(`Mortise answers on ${forge.app.url}`)
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void forge[Symbol.asyncDispose]())
} catch (error) {
  if (!(error instanceof BadSetting)) throw error
  console.error(error.message)
  process.exitCode = 1
}
