/**
 * Words and phrases that the project does not use, each with its replacement. `except` lists path
 * prefixes where the word has a special meaning. IDs of cases, requirements and defects may contain
 * the words, and "taken" is right for a name, an address or a port.
 */
export const unwanted = [
  {
    pattern: /(?<![-.\w])([iI]l)?[lL]egal(ly)?(?![-\w])|\b\w*Legal[A-Z]\w*|\b(il)?legal[A-Z]\w*/g,
    instead: 'valid of input, good of a server or client, allowed, conforming',
  },
  {
    pattern:
      /\b(in)?correct (servers?|clients?|targets?|request|input|body)\b|\bgood(?!(Clients?|Servers?|Targets?|Steps)\b)[A-Z]\w*|\b(is|are)Good\w*|\bconst good\b|\bgood (request|report|log|message|pair|attribute|alert|header|cookie|signature|key|value|bod(y|ies)|input|response)s?\b|\b(after a|among) good ones?\b/g,
    instead: 'good server or client, valid request (glossary in bin/help.md)',
  },
  {
    pattern: /\b(everyForm|\w+FormDefects?|\w+FormCases|(equal|refused|older|timestamp)Forms)\b/g,
    instead: 'variant, format or encoding; a form is the multipart body of a request',
  },
  {
    pattern: /\b(worldOf|SmallWorld|SwiftWorld|VirtualWorld|world\.sqlite|worldTables)\b/g,
    instead: 'tenant or server; a world is a file with a start state',
  },
  { pattern: /\b(VariantName|variantNames|withoutVariants)\b/g, instead: 'dialect' },
  { pattern: /\b(usual(Values|Ms|Seed|Of)|isUsual|HasUsual)\b/g, instead: 'default' },
  {
    pattern: /\b(tell[A-Z]\w*|told[A-Z]\w*|\w+Teller|isTold)\b/g,
    instead: 'notify, warn, print, …',
  },
  {
    pattern: /\b(is|of|by|as)Strangers?\b|\bStranger\w*|\bstrangers?\b(?=[ ,;:.)])/g,
    instead: 'who it is: unauthorizedDevice, unknownRole, foreignFile, …',
  },
  {
    pattern:
      /\b\w*(Command|State|Yaml|Csv|Pattern|Result|Report|World|Transfer|Tenant|Player|File)Fault\b/g,
    instead: '…Error or …Problem; a fault is an injected failure',
  },
  {
    pattern: /\bcatch \(fault\b|\bfault instanceof\b|\bthrow fault\b|\(fault(, \w+)*\) =>/g,
    instead: '"error"; a fault is an injected failure',
    except: ['bin/virtual/'],
  },
  {
    pattern: /\b[iI]nvariants?\b|\b(invariant|Invariant)[A-Z]\w*|\w+Invariants?\b/g,
    instead: 'passive check; an invariant is one of the virtual time of the simulator',
    except: ['bin/virtual/', 'bin/commands/simulate/', 'simulator/'],
  },
  {
    pattern:
      /\b(\w+)?(learn(Secrets?|NoResponse)|seeNoResponse)\b|\b(Duty|Client|Exchange|Run|Device|Deployment|Authentication|Retry|Fleet|Socket)Memory\b|\bremembered\.ts\b/g,
    instead:
      '…History for what a judge knows of earlier exchanges, record(exchange); memory is RAM',
  },
  {
    pattern: /\bheard\b|\bhear\(/g,
    instead: 'received, record',
    except: ['server/'],
  },
  {
    pattern:
      /\b(StartStateMissed|SelfAccepting\w*|acceptsEveryDevice|setUpError\w*|OpenPointReadings?|(Requirement)?Standing(s|Counts)?|\w*(T|\bt)all(y|ies))\b/g,
    instead:
      'StartStateNotReached, AutoAcceptingTarget…, setupError…, observations, coverage state, counts',
    except: ['simulator/', 'server/'],
  },
  {
    pattern: /\brisk: '(read|write|disruptive)'/g,
    instead: 'effect: what a case does to the target',
  },
  {
    pattern: /\bTargetSession\b|\bSessionExchange\b|\bcontext\.session\b|\bfleetbed_open_polls/g,
    instead: 'TargetClient, CompletedExchange, context.client, fixed-rate polls',
  },
  {
    pattern: /\bscenes?\b/g,
    instead: 'incident',
    except: [
      ...['conformance/client-judge/', 'bin/client-test/', 'conformance/guide.md', 'bin/help.md'],
      'bin/commands/conform/client/',
      'fixtures/control/client-event.ts',
    ],
  },
  { pattern: /\b(swallowed|unkept)\b/g, instead: 'ack-lost, not-stored' },
  {
    pattern: /\b(\w+_(LEAST|MOST)(_\w+)?|(least|most)(Ms|Bytes|PerSecond|PollMs))\b/g,
    instead: 'min, max',
  },
  { pattern: /\b(is|are)\s+no\s+good\b/g, instead: '"is refused"' },
  {
    pattern: /\bmended\b|\blets\s+go\s+of\b|\bstands?\s+still\b/g,
    instead: 'corrected, releases, stalls',
  },
  {
    pattern: /Forget token|Look closer|because the API cannot delete it|a value of your choice/g,
    instead: 'log out, inspect, "left on the server (the API has no delete)", a generated value',
  },
  {
    pattern: /"fleetbed (?=[a-z])|\b(run|with|them): fleetbed (?=[a-z])/g,
    instead: '"npx fleetbed …", which runs as pasted in a clone',
    except: ['server/control/http/control.ts'],
  },
  {
    pattern:
      /\b(interface|type|class) \w*(Answers?|Reply|Replies)\b|\b(an|the|each|every)\s+answers?\b/g,
    instead: 'response (the verb "answer" is fine)',
    except: ['conformance/self-test/workers.ts'],
  },
  {
    pattern:
      /\b[sS]ign(s|ed|ing)?[- ](in|ins|out)\b(?! (a|in|the|place|which|with)\b)|[sS]ign(ed)?(In|Out)[A-Z]?\w*/g,
    instead: 'a device authenticates by an authentication request; a user logs in and out',
    except: ['bin/commands/worker/'],
  },
  {
    pattern: /\b[aA]uth requests?\b/g,
    instead: '"authentication request"; authRequest in names',
  },
  {
    pattern: /\b(askedView|askJson|askAs|askForAbort|abortAsked)|^(asked|answered|wrong) {3,}/gm,
    instead: 'request, response, problem; callControl, requestJson, requestAbort',
  },
  {
    pattern:
      /\b([uU]nder[wW]ay\w*|onTheWay\w*|environment\.rest|Carrier|livesCount|StateJournal)\b/g,
    instead: 'inFlight…, inProgress, environment.sleep, InProcessTransport, loopCount, StateLog',
  },
  {
    pattern: /(?<=\/\*\*\s+(\*\s+)?)What\b/g,
    instead: 'a noun that names the value: "The conditions of …"; or a verb for a function',
  },
  {
    pattern: /\b(cameBack|pollsAgain|never-came|keptBy|keptAtEndOfScene|interference(?=\??:))\b/g,
    instead:
      'sentRequestAgain, polledAgain, no-request, metBy, metAtEndOfScene, faultsAndVariations',
  },
  {
    pattern:
      /--link\b(?!-)|\bLINK_LOST\b|\bhooks\.link\b|\b(Coordinator|Shard|Redis)Link\b|\bWorldsSection\b|'\/worlds'/g,
    instead: 'network (of a device), connection, states; a link is one to a file',
  },
  {
    pattern: /\b\w*[bB]reach(es|ed)?(?![a-z])|\bmissed (MUST|SHOULD|requirement)s?\b/g,
    instead: 'violation, violated',
  },
  {
    pattern: /\bfalse ?[cC]atch(es)?\b|\bisCaught\b|\balsoBreaks\b|\bfalse verdicts?\b/g,
    instead: 'killed, survived, false failure (mutation testing)',
  },
  {
    pattern: /\bUNDECIDED\b|\bexitCodes\.undecided\b|\b(leaves?|stays?) (\w+ )*undecided\b/g,
    instead: 'inconclusive',
  },
  { pattern: /\banswered \d{3}\b/g, instead: 'answered with' },
  {
    pattern: /\botherThanText\b|-(is-a|are-a)-(text|list)['`]|-(is|are)-taken['`]/g,
    instead: 'string, array, accepted',
    except: ['conformance/suite/former-ids.ts'],
  },
  {
    pattern: /\bask(ing)?(Forms|Upgrade|Target|ByNewKey|ForMap)\b|\bAskTarget\b/g,
    instead: 'poll, request, send',
  },
  { pattern: /\bcontext\.settled\b/g, instead: 'context.eventually' },
  {
    pattern: /'operator(\/[a-z-]+)?'/g,
    instead: 'user',
  },
  { pattern: /\bsplitBy(Turn|Phase)\b|\b(turn|phase): '(first|last)'/g, instead: 'order' },
  {
    pattern: /\b(inNextRound|nextRound\(\)|QUIET_TURNS|quietTurns|isQuiet)\b/g,
    instead: 'iteration of the event loop; idle, omitted, unmarked',
  },
  {
    pattern: /\bfleetbed_phase\b|\benterPhase\b|\bkind: 'phase'/g,
    instead: 'stage of a run; a phase is one of a deployment',
  },
  {
    pattern: /\bbeginning(Of|Ms)\b|\bisBeginning\b|\bbeginnings\b(?!')|\bbegins[A-Z]\w*/g,
    instead: 'prefix, excerpt, start, attempt',
    except: ['conformance/self-test/defects/'],
  },
  {
    pattern: /\b(PlanWords\w*|\w+Words|words(Of|In|At)\w*)\b(?!\.mjs)/g,
    instead: 'args, input, text, label, columns',
  },
  {
    pattern:
      /\b(\w+(Pieces?|Moments?)|(piece|moment)s?(Of|Ms|In|Bytes)\w*|places?(Of|In)[A-Z]?\w*)\b/g,
    instead: 'chunk, part, time, position, location, path',
  },
  {
    pattern: /\bFrameLine\b|\b(learn|see|on)Silence\b|[sS]ilenceMax\w*|\bsilentMs\b/g,
    instead: 'FrameConnection, noResponse, idleMax…',
  },
  {
    pattern: /\bbecause\??: (?=['"`])|\.because\b/g,
    instead: 'reason',
  },
  {
    pattern:
      /\b(Operator(Socket|Values|Credentials)\w*|FleetOperator\w*|operator(Ms|IntervalMs))\b/g,
    instead: 'user',
  },
  {
    pattern:
      /\bneed(Token|Authorized|Refusal|Instructions|Response|Offer|Status|Decided|Names)\b|\b(signature|password)Fits\b/g,
    instead: 'require…, verify…',
  },
  {
    pattern:
      /\b(PollForm|pollForms|instructionForms|wrongForms|\w*[bB]odyForm|(Recording|Vector)Form)\b/g,
    instead: 'variant of a request, type of a field, format of a file, encoding of a body',
  },
  {
    pattern: /\b(\w+Mistakes?|Mistake\w*|mistakes?(In|Of|Text|View)|mistake: )(?=\W|$)/g,
    instead: 'cause of a refusal, violation of a requirement, planted defect, error of our input',
  },
  {
    pattern: /\b(wayOut|waysOut|StateBadge|stateChoices|toneOfStatus)\b/g,
    instead: 'remedy; status for the statuses of the contract, state for our own',
  },
  {
    pattern: /\bconform replay\b|--model-replay\b|\b[iI]sReplayed\b|\breplayed(Options|Cases)\b/g,
    instead: 'conform rerun; only a recording is replayed',
  },
  {
    pattern:
      /\b([bB]ad(ly written)?|[cC]areless|[tT]roubled) (device )?clients?\b|\b\w*BadClient\w*|\bbadClients\b/g,
    instead: 'a defective client',
    except: ['server/listeners/tls/'],
  },
  {
    pattern: /\btone(=|: )["'](good|bad|busy)["']|\bisBad\b|\bbad input\b/g,
    instead: 'positive, negative, pending; isUnsuccessful; invalid input',
  },
  {
    pattern:
      /\b(stopIfGone|isGone|FilesGone|\w+OrNothing|afterUndo|restoreAfterUndo|moveTo\(tenant\)|(Request|Response)CutOff|cutShort)\b/g,
    instead: 'disconnected, removed, optional…, rollback, switchTo, incomplete, interrupted',
  },
  {
    pattern:
      /\b(Planned(Request|Body|Poll)|plannedMs|triesMax|restUntilDue|Loose(Artifact|Entry)|loose(Artifact|Tar|Line)|[hH]asty\w*|UnreadableRe(quest|cord)|isLasting)\b/g,
    instead:
      'CorrectedRequest, dueMs, ATTEMPTS_MAX, sleepUntilDue, malformed, too frequent, unparsable, persistent',
  },
  {
    pattern:
      /\b(ExaminationPlan|ExaminedDuty|PlayedScene|an examination|--exercise)\b|\b(not|was)[- ]exercised\b/g,
    instead: 'client test; a scene is run; a duty is tested',
    except: [
      'conformance/self-test/',
      'bin/commands/conform/self-test/',
      'bin/dev/nightly/',
      'server/',
    ],
  },
  {
    pattern: /\bas const\) satisfies\b/g,
    instead: '"as const satisfies …)": only a literal itself is checked for unknown members',
  },
  {
    pattern: /\b(SETTLE_MS|settleMs|holdBody|isArmed|useSettled|isHeld)\b|\.settled\(/g,
    instead: 'effect delay, countBody, isActive, useDebounced, isTimeLimitPaused, waitUntil…',
    except: ['bin/dev/bench/'],
  },
  {
    pattern:
      /\b(PlainResponse|ownRequestId|explainedAt|planWiring|forgetRequests|may have work|deployment_devices|tokens_from|FetchedArtifact)\b|\.(un)?answered\((?=exchange)/g,
    instead:
      'UnsentResponse, isRequestIdGenerated, addresses, connectionOptions, clearPollData, may be open, device_deployments, recordResponse',
  },
  {
    pattern:
      /\b([pP]retend(s|ed|[A-Z]\w*)?|Tiny(Server|Case)|SmallServer|(Virtual|Run|Failed|small)Trial)\b/g,
    instead: 'stub (programmed responses), fake (keeps state), virtual run',
  },
  {
    pattern:
      /\b(realDevice|RealDeployment|missesOf|MissingRequest|ofNoDevice|keysSuffice|areSuch|isSuch|overMs|openEnded|exchange\.(row|sent|json))\b/g,
    instead:
      'targetDevice, nonMatching…, noDevice, accepts…, endMs, undetermined, operation, requestJson',
  },
  {
    pattern:
      /\b(deployment-over|endedDeployment|findIdenticalActive|hasActive|active(StatusesSql|Of)|(status|update)Ended)\b|\bdeployment (that )?(has|have) (not )?ended\b|(?<=deviceDeployments)\.open\(/g,
    instead: 'finished, unfinished, open (glossary in bin/help.md); final only of a status',
  },
  {
    pattern:
      /\b(const|let) (of|way|shown)\b|\b(of|shown) = (async )?\(|\bfunction (shown|counted|stored|refused|parsed|listed|kept|filled|opened|closed|ended)\(|[[({] ?of(?=[,)}\]] ?=)|, of(?=\]?\) =>)|\bLongTaskOf\b/g,
    instead: 'what the value holds (total, remedy, title), and verb + object for a function',
  },
  {
    pattern: /\n(?=import )(?<=^(#!.*\n)?\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n\n)/g,
    instead: 'no blank line between the comment of a file and its imports',
  },
  {
    pattern: /\bconst (way|of) =|\bfunction\*? (shown|listed|parsed|kept|guarded|searched)\b/g,
    instead: 'remedy, connectionOptions, total, …; a function is a verb and its object',
    except: ['bin/', 'conformance/', 'fixtures/'],
  },
];
