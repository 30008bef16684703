/** The world file that `fleetbed world init` writes: a small example with comments. */
export const exampleWorld = `# yaml-language-server: $schema=./world.schema.json
# A world file for fleetbed serve --world. Every "ago" counts back from the world's time.

# now: 2027-08-01T00:00:00Z    # the world's time; that of the machine when absent

users:
  - { email: reader@example.com, password: a-long-password, roles: [RBAC_ROLE_OBSERVER] }

artifacts:
  - name: release-2
    deviceTypes: [board]
    content: "hello from release 2\\n"
    ago: 2d

devices:
  - name: worker                # the rest of the file refers to it by this name
    identity: { mac: "02:00:00:00:00:01" }
    status: accepted            # pending, accepted, rejected, preauthorized
    ago: 1h
    # publicKey: |              # PEM; without one, a key is generated, and printed when the world is loaded
    #   -----BEGIN PUBLIC KEY-----
    inventory: { device_type: board, artifact_name: release-1 }
    configuration: { timezone: UTC }
    group: eu
  - name: newcomer
    status: pending
    ago: 5m

deployments:
  - name: spring
    artifact: release-2
    devices: [worker]           # all accepted devices when absent
    ago: 30m
    reached: { worker: downloading }
    aborted: true
`;
