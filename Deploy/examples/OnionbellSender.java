import com.google.protobuf.CodedInputStream;
import com.google.protobuf.InvalidProtocolBufferException;
import java.io.*;
import java.net.*;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.*;
import java.util.concurrent.*;
import java.util.function.Consumer;
import java.util.function.Supplier;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.IvParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import onionbell.protobuf.*;
import onionbell.protobuf.MobileNotificationResponse.Status;

/**
 * Rings phones through one Onionbell node, over one connection that is kept, and tells what became of each one.
 *
 * <p>{@link #send} returns at once. The connection is made when the first notification waits; a Ping a minute keeps it.
 * When it breaks, or the node is busy, the same requests are sent again: the node knows them by their uid, and no phone
 * rings twice. Futures complete on a thread of the sender's: hand over to your own.
 *
 * <p>Java 17 and protobuf-java are enough. On Debian (default-jdk-headless, protobuf-compiler, libprotobuf-java):
 *
 * <pre>
 * protoc --java_out=DIRECTORY --proto_path=Sources/Core/Wire onionbell.proto
 * javac -cp /usr/share/java/protobuf.jar -sourcepath DIRECTORY -d DIRECTORY Deploy/examples/OnionbellSender.java
 * java -cp DIRECTORY:/usr/share/java/protobuf.jar OnionbellSender --help
 * </pre>
 */
public final class OnionbellSender implements AutoCloseable {
    private static final String USAGE = """
            usage: OnionbellSender --to ADDRESS.onion[:9999] [options] < pairing-token

              --socks HOST:PORT  tor's SOCKS port (127.0.0.1:9050)
              --title TEXT       the notification's title (Hello)
              --message TEXT     its text (from Java); repeated: several notifications over one connection
              --app NAME         the app's name in the node's settings (the platform's default)
              --network NUMBER   message_version of the Bisq network (10, mainnet)
              --timeout SECONDS  for all outcomes together (120)

            Standard input, since it holds keys: the pairing token of Bisq 1; for a message as Bisq 2 sends it also a
            second line, the phone's symmetric key in Base64. 127.0.0.1:PORT as ADDRESS is dialled without tor.

            Exit status: 0 all delivered, 1 one never will be, 3 the node may have one (called again, it may ring twice),
            64 wrong arguments or token, 75 not now.
            """;

    private static final int LONGEST_FRAME = 65_536; // bytes
    private static final int LONGEST_REQUEST = LONGEST_FRAME - 32; // bytes; around it is the envelope
    private static final int MOST_WAITING = 256; // with more unanswered requests a node reads no further
    private static final int PROXY_TIMEOUT = 10_000; // milliseconds
    private static final int CIRCUIT_TIMEOUT = 120_000; // milliseconds; a first circuit takes its time
    private static final int SILENCE_TIMEOUT = 150_000; // milliseconds; a Pong comes every minute
    private static final int PING_INTERVAL = 60; // seconds; the node closes after 240 without a frame
    private static final long LONGEST_PAUSE = 60; // seconds between two tries
    private static final long LONGEST_HOLD = 3_600_000; // milliseconds, whatever the node asks for
    private static final SecureRandom RANDOM = new SecureRandom();
    /** Reasons of a node's close that the same bytes will meet again: of another network, not read, too large. */
    private static final Set<String> FINAL_REASONS =
            Set.of("WRONG_NETWORK_ID", "INVALID_DATA_TYPE", "MAX_MSG_SIZE_EXCEEDED");

    /** No other try helps: what waited has failed with this. */
    public static final class NeverException extends IOException {
        private static final long serialVersionUID = 1;

        private NeverException(String message) {
            super(message);
        }
    }

    /** One notification on its way. Whoever completes or cancels {@code outcome} gives it up. */
    public static final class Sending {
        /** Never changed: each try sends the same bytes. */
        public final MobileNotificationRequest request;
        /** The first answer that is not BUSY. STORED: the node will deliver it, or find out why not. */
        public final CompletableFuture<MobileNotificationResponse> first = new CompletableFuture<>();
        /**
         * DELIVERED, REFUSED, TOKEN_DEAD or EXPIRED. After STORED it may take as long as the push service is away. A
         * {@link NeverException}: the node's answer will never be another.
         */
        public final CompletableFuture<MobileNotificationResponse> outcome = new CompletableFuture<>();
        /** The connection that it was written to; the loop changes it. */
        private volatile Connection writtenTo;
        /** Until the pause that the node has asked for is over. */
        private volatile boolean isHeld;

        private Sending(MobileNotificationRequest request) {
            this.request = request;
        }
    }

    private final Target target;
    private final Supplier<InetSocketAddress> socks;
    private final int messageVersion;
    private final Consumer<String> report;
    private final Map<String, Sending> waiting = Collections.synchronizedMap(new LinkedHashMap<>());
    /** The one thread that dials and writes. What follows is changed by it alone. */
    private final ScheduledThreadPoolExecutor loop;
    private volatile Connection connection;
    private boolean triesLater;
    private int failures;

    /**
     * @param socks tells tor's SOCKS port, and is asked before each try; null: it has none yet
     * @param messageVersion of the network's envelopes, as in Bisq: 10 is mainnet
     * @param report is called with a line for the log whenever something has to be tried again; a line holds no secret
     */
    public OnionbellSender(
            Target target, Supplier<InetSocketAddress> socks, int messageVersion, Consumer<String> report) {
        this.target = target;
        this.socks = socks;
        this.messageVersion = messageVersion;
        this.report = line -> {
            try {
                report.accept(line);
            } catch (RuntimeException ignored) {
                // A log that fails stops no notification.
            }
        };
        loop = new ScheduledThreadPoolExecutor(
                1, task -> daemon(task, "onionbell"), new ThreadPoolExecutor.DiscardPolicy());
        loop.scheduleWithFixedDelay(this::ping, PING_INTERVAL, PING_INTERVAL, TimeUnit.SECONDS);
    }

    /**
     * @throws IllegalArgumentException if the request is too large for any node, or its uid is in use
     * @throws RejectedExecutionException if 256 wait already, or the sender is closed
     */
    public Sending send(MobileNotificationRequest request) {
        if (request.getSerializedSize() > LONGEST_REQUEST) {
            throw new IllegalArgumentException("a request over " + LONGEST_REQUEST + " bytes");
        }
        if (loop.isShutdown()) throw new RejectedExecutionException("the sender is closed");
        Sending sending = new Sending(request);
        synchronized (waiting) {
            if (waiting.size() >= MOST_WAITING) {
                throw new RejectedExecutionException(MOST_WAITING + " notifications wait already");
            }
            Sending before = waiting.get(request.getUid());
            if (before != null && !before.outcome.isDone()) throw new IllegalArgumentException("the uid is in use");
            waiting.put(request.getUid(), sending);
        }
        sending.outcome.whenComplete((answer, error) -> {
            waiting.remove(request.getUid(), sending);
            if (error != null) sending.first.completeExceptionally(error);
        });
        loop.execute(() -> post(sending));
        return sending;
    }

    /** Ends the connection. Who still waits is told by a {@link CancellationException}. */
    @Override
    public void close() {
        loop.shutdownNow();
        Connection open = connection;
        if (open != null) open.close();
        all().forEach(sending -> sending.outcome.cancel(false));
    }

    private List<Sending> all() {
        synchronized (waiting) {
            return List.copyOf(waiting.values());
        }
    }

    // The loop's.

    private void post(Sending sending) {
        if (sending.outcome.isDone() || sending.isHeld) return;
        if (connection == null) {
            if (!triesLater) connect(); // which posts all
        } else if (sending.writtenTo != connection) {
            sending.writtenTo = connection;
            write(NetworkEnvelope.newBuilder().setMobileNotificationRequest(sending.request));
        }
    }

    private void ping() {
        if (connection == null) return;
        write(NetworkEnvelope.newBuilder().setPing(Ping.newBuilder().setNonce(RANDOM.nextInt())));
    }

    private void write(NetworkEnvelope.Builder envelope) {
        Connection open = connection;
        try {
            envelope.setMessageVersion(messageVersion).build().writeDelimitedTo(open.out);
            open.out.flush();
        } catch (IOException error) {
            lose(open, error);
        }
    }

    private void connect() {
        triesLater = false;
        if (connection != null || waiting.isEmpty() || loop.isShutdown()) return;
        try {
            InetSocketAddress proxy = socks.get();
            if (proxy == null) throw new IOException("tor is not there yet");
            Connection open = new Connection(target, proxy);
            connection = open;
            if (loop.isShutdown()) open.close(); // meanwhile
            daemon(() -> read(open), "onionbell-reader").start();
            all().forEach(this::post);
        } catch (IOException | RuntimeException error) {
            lose(null, error);
        }
    }

    /** @param lost is null if none could be made */
    private void lose(Connection lost, Exception error) {
        if (lost != connection) return;
        if (lost != null) lost.close();
        connection = null;
        if (error instanceof NeverException) {
            all().forEach(sending -> sending.outcome.completeExceptionally(error));
        }
        failures = lost != null && lost.hasAnswered ? 0 : failures + 1;
        if (waiting.isEmpty()) return;
        long pause = Math.min(LONGEST_PAUSE, 1L << Math.min(failures, 6));
        triesLater = true;
        loop.schedule(this::connect, pause, TimeUnit.SECONDS);
        report.accept(error.getMessage() + "; the next try in " + pause + " s");
    }

    // The reader's: a thread for each connection.

    private void read(Connection open) {
        try {
            while (true) take(open.next(), open);
        } catch (IOException error) {
            boolean isSilent = error instanceof SocketTimeoutException;
            IOException why = isSilent
                    ? new IOException("no sign of the node for " + SILENCE_TIMEOUT / 1000 + " s") : error;
            loop.execute(() -> lose(open, why));
        }
    }

    private void take(NetworkEnvelope envelope, Connection from) throws IOException {
        if (envelope.hasCloseConnectionMessage()) {
            String reason = printable(envelope.getCloseConnectionMessage().getReason());
            throw FINAL_REASONS.contains(reason)
                    ? new NeverException("the node closes: " + reason) : new IOException("the node closes: " + reason);
        }
        MobileNotificationResponse answer = envelope.getMobileNotificationResponse();
        Sending sending = waiting.get(answer.getRequestUid());
        if (sending == null) return; // a Pong, or of one that was given up
        from.hasAnswered = true;
        switch (answer.getStatus()) {
            case STORED -> sending.first.complete(answer);
            case BUSY -> {
                if (sending.isHeld) return;
                sending.isHeld = true;
                long pause = Math.min(Math.max(answer.getRetryAfterMs(), 100), LONGEST_HOLD);
                loop.schedule(() -> {
                    sending.isHeld = false;
                    sending.writtenTo = null;
                    post(sending);
                }, pause, TimeUnit.MILLISECONDS);
                report.accept("the node is busy; the next try in " + pause + " ms");
            }
            default -> {
                sending.first.complete(answer);
                sending.outcome.complete(answer);
            }
        }
    }

    private static Thread daemon(Runnable task, String name) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        return thread;
    }

    /** Where a node is: {@code <56 letters>.onion}, or loopback, with a port or without. */
    public record Target(String host, int port) {
        public static Target parse(String address) {
            if (!address.matches("([a-z2-7]{56}\\.onion|127\\.0\\.0\\.1)(:[0-9]+)?")) {
                throw new IllegalArgumentException("no address of a node: 56 letters or digits 2 to 7, and .onion");
            }
            String[] parts = address.split(":");
            return new Target(parts[0], parts.length == 1 ? 9999 : portNumber(parts[1]));
        }
    }

    /** Takes numbers alone, as {@code 127.0.0.1:9050}, so that no name is looked up. */
    public static InetSocketAddress numeric(String text) throws UnknownHostException {
        String number = "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
        if (!text.matches("(" + number + "\\.){3}" + number + ":[0-9]+")) {
            throw new IllegalArgumentException("no SOCKS port: four numbers with dots, a colon, a port");
        }
        int colon = text.indexOf(':');
        InetAddress address = InetAddress.getByName(text.substring(0, colon));
        return new InetSocketAddress(address, portNumber(text.substring(colon + 1)));
    }

    private static int portNumber(String text) {
        int port = text.length() > 5 ? 0 : Integer.parseInt(text);
        if (port < 1 || port > 65_535) throw new IllegalArgumentException("a port is a number from 1 to 65535");
        return port;
    }

    /** Frames in both directions: a length, then one NetworkEnvelope. */
    private static final class Connection {
        final OutputStream out;
        private final Socket socket = new Socket(Proxy.NO_PROXY);
        private final InputStream in;
        volatile boolean hasAnswered;

        Connection(Target target, InetSocketAddress socks) throws IOException {
            boolean isOnion = target.host().endsWith(".onion");
            InetSocketAddress first = isOnion ? socks : numeric(target.host() + ":" + target.port());
            try {
                socket.connect(first, PROXY_TIMEOUT);
                socket.setTcpNoDelay(true);
                socket.setSoTimeout(CIRCUIT_TIMEOUT);
                in = new BufferedInputStream(socket.getInputStream());
                out = new BufferedOutputStream(socket.getOutputStream());
                if (isOnion) passThroughTor(target);
                socket.setSoTimeout(SILENCE_TIMEOUT);
            } catch (IOException error) {
                close();
                if (socket.isConnected()) {
                    throw error instanceof SocketTimeoutException
                            ? new IOException("tor has no circuit to the node") : error;
                }
                String what = isOnion ? "tor's SOCKS port" : "the node";
                throw new IOException(what + " can't be reached: " + error.getMessage());
            }
        }

        /** SOCKS 5 (RFC 1928, RFC 1929). A name of its own gives the connection a circuit of its own. */
        private void passThroughTor(Target target) throws IOException {
            send(new byte[] {5, 1, 2});
            if (!Arrays.equals(take(2), new byte[] {5, 2})) throw new IOException("the SOCKS port takes no name");
            byte[] name = HexFormat.of().formatHex(random(8)).getBytes(StandardCharsets.US_ASCII);
            send(new byte[] {1, (byte) name.length}, name, new byte[] {1, '-'});
            if (take(2)[1] != 0) throw new IOException("the SOCKS port refuses a name");
            byte[] host = target.host().getBytes(StandardCharsets.US_ASCII);
            send(new byte[] {5, 1, 0, 3, (byte) host.length}, host,
                    new byte[] {(byte) (target.port() >> 8), (byte) target.port()});
            byte[] answer = take(4);
            int code = answer[1] & 255;
            if (code == 0xF6) throw new NeverException("the address is misspelt");
            if (code != 0) throw new IOException("tor can't reach the node: " + socksError(code));
            take(2 + switch (answer[3]) {
                case 1 -> 4;
                case 4 -> 16;
                default -> take(1)[0] & 255;
            });
        }

        private static String socksError(int code) {
            return switch (code) {
                case 1 -> "its network is not ready, or the address is not one of an onion service";
                case 4, 0xF0 -> "nothing is published under this address; the node is away, or it is another address";
                case 5 -> "the node is there, but not at this port";
                case 6, 0xF2, 0xF3, 0xF7 -> "it does not answer";
                case 0xF4, 0xF5 -> "tor has no invitation to it, or a wrong one";
                default -> "SOCKS error " + code;
            };
        }

        private void send(byte[]... parts) throws IOException {
            for (byte[] part : parts) out.write(part);
            out.flush();
        }

        private byte[] take(int count) throws IOException {
            byte[] bytes = in.readNBytes(count);
            if (bytes.length < count) throw new EOFException("the connection was closed at the other end");
            return bytes;
        }

        NetworkEnvelope next() throws IOException {
            try {
                int length = CodedInputStream.readRawVarint32(take(1)[0] & 255, in);
                if (length < 0 || length > LONGEST_FRAME) {
                    throw new IOException("a frame over " + LONGEST_FRAME + " bytes");
                }
                return NetworkEnvelope.parseFrom(take(length));
            } catch (InvalidProtocolBufferException error) {
                throw new IOException("what answers is no node of Onionbell's");
            }
        }

        void close() {
            try {
                socket.close();
            } catch (IOException ignored) {
                // It is given up in any case.
            }
        }
    }

    /** What a phone of Bisq 1 is paired with. */
    public record PairingToken(String magic, String descriptor, String key, String deviceToken) {
        public static PairingToken parse(String text) {
            String[] parts = text.split("\\|", -1);
            if (parts.length != 4 || !List.of("iOS", "iOSDev", "android").contains(parts[0])
                    || !parts[2].matches("[!-~]{32}") || !parts[3].matches("[!-~]+")) {
                throw new IllegalArgumentException("no pairing token: iOS, iOSDev or android, |, the descriptor, |,"
                        + " a key of 32 characters, |, the device token");
            }
            return new PairingToken(parts[0], parts[1], parts[2], parts[3]);
        }

        public MobilePlatform platform() {
            return switch (magic) {
                case "iOS" -> MobilePlatform.IOS;
                case "iOSDev" -> MobilePlatform.IOS_DEV;
                default -> MobilePlatform.ANDROID;
            };
        }

        /** As Bisq 1: AES-256 in CBC mode. Blanks fill up the bytes, not the characters: accents pass. */
        public String seal(String json) throws GeneralSecurityException {
            byte[] text = json.getBytes(StandardCharsets.UTF_8);
            byte[] blocks = Arrays.copyOf(text, (text.length + 15) / 16 * 16);
            Arrays.fill(blocks, text.length, blocks.length, (byte) ' ');
            String iv = HexFormat.of().formatHex(random(8));
            Cipher cipher = Cipher.getInstance("AES/CBC/NoPadding");
            cipher.init(Cipher.ENCRYPT_MODE, new SecretKeySpec(key.getBytes(StandardCharsets.US_ASCII), "AES"),
                    new IvParameterSpec(iv.getBytes(StandardCharsets.US_ASCII)));
            return (platform() == MobilePlatform.ANDROID ? "BisqMessageAndroid|" : "BisqMessageiOS|") + iv + "|"
                    + Base64.getEncoder().encodeToString(cipher.doFinal(blocks));
        }
    }

    /** As Bisq 2: AES-256 in GCM mode under the key of the phone's registration, 32 bytes. */
    public static String seal(String json, byte[] key) throws GeneralSecurityException {
        byte[] nonce = random(12);
        Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
        cipher.init(Cipher.ENCRYPT_MODE, new SecretKeySpec(key, "AES"), new GCMParameterSpec(128, nonce));
        byte[] text = json.getBytes(StandardCharsets.UTF_8);
        byte[] sealed = Arrays.copyOf(nonce, nonce.length + cipher.getOutputSize(text.length));
        cipher.doFinal(text, 0, text.length, sealed, nonce.length);
        return Base64.getEncoder().encodeToString(sealed);
    }

    /** An alert with sound under a new uid, whose outcome is told. */
    public static MobileNotificationRequest.Builder alert(MobilePlatform platform, String deviceToken, String message) {
        return MobileNotificationRequest.newBuilder().setUid(UUID.randomUUID().toString()).setPlatform(platform)
                .setDeviceToken(deviceToken).setMessage(message).setUrgent(true).setSound(true).setAwaitOutcome(true);
    }

    /** An object of JSON out of names and values: numbers, and texts. */
    public static String json(Object... fields) {
        StringBuilder text = new StringBuilder();
        for (int at = 0; at < fields.length; at += 2) {
            Object value = fields[at + 1] instanceof Number number ? number : quoted((String) fields[at + 1]);
            text.append(at == 0 ? "{" : ",").append(quoted((String) fields[at])).append(':').append(value);
        }
        return text.append('}').toString();
    }

    private static String quoted(String value) {
        StringBuilder text = new StringBuilder("\"");
        for (char letter : value.toCharArray()) {
            if (letter < ' ') {
                text.append(String.format("\\u%04x", (int) letter));
            } else {
                text.append(letter == '"' || letter == '\\' ? "\\" : "").append(letter);
            }
        }
        return text.append('"').toString();
    }

    private static byte[] random(int count) {
        byte[] bytes = new byte[count];
        RANDOM.nextBytes(bytes);
        return bytes;
    }

    /** What the node says may reach a terminal. */
    private static String printable(String text) {
        return text.substring(0, Math.min(text.length(), 64)).replaceAll("[^!-~]", "?");
    }

    // The program.

    public static void main(String[] arguments) throws InterruptedException, GeneralSecurityException {
        try {
            System.exit(run(arguments));
        } catch (IllegalArgumentException | IOException error) {
            System.err.println(error.getMessage());
            System.exit(64);
        }
    }

    private static int run(String[] arguments) throws IOException, InterruptedException, GeneralSecurityException {
        if (Arrays.asList(arguments).contains("--help")) {
            System.out.print(USAGE);
            return 0;
        }
        Map<String, String> options = new HashMap<>(Map.of("--to", "", "--socks", "127.0.0.1:9050", "--title", "Hello",
                "--app", "", "--network", "10", "--timeout", "120"));
        List<String> texts = new ArrayList<>();
        for (int at = 0; at < arguments.length; at += 2) {
            String name = arguments[at];
            if (at + 1 == arguments.length || !options.containsKey(name) && !name.equals("--message")) {
                throw new IllegalArgumentException("--help shows the options, each with a value");
            }
            if (arguments[at + 1].contains("\uFFFD")) {
                throw new IllegalArgumentException("Java can't read a letter of an argument here: try LC_ALL=C.UTF-8");
            }
            if (name.equals("--message")) texts.add(arguments[at + 1]);
            else options.put(name, arguments[at + 1]);
        }
        if (texts.isEmpty()) texts.add("from Java");
        if (texts.size() > MOST_WAITING) throw new IllegalArgumentException("at most " + MOST_WAITING + " messages");
        Target node = Target.parse(options.get("--to"));
        InetSocketAddress socks = numeric(options.get("--socks"));
        int network = number(options, "--network");
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(number(options, "--timeout"));
        String[] lines = new String(System.in.readNBytes(16_384), StandardCharsets.UTF_8).strip().split("\\R");
        PairingToken phone = PairingToken.parse(lines[0].strip());
        byte[] key = lines.length == 1 ? null : key(lines[1].strip());
        Set<Integer> ends = new HashSet<>();
        try (OnionbellSender sender =
                new OnionbellSender(node, () -> socks, network, line -> System.err.println("not yet: " + line))) {
            List<Sending> sendings = new ArrayList<>();
            for (String text : texts) {
                MobileNotificationRequest.Builder request = request(phone, key, options.get("--title"), text);
                sendings.add(sender.send(request.setApp(options.get("--app")).build()));
            }
            for (Sending sending : sendings) ends.add(await(sending, end));
        }
        // Of one that was taken and one that was not, the first would ring twice.
        boolean isTaken = ends.contains(0) || ends.contains(3);
        if (ends.contains(3) || ends.contains(75) && isTaken) return 3;
        return ends.contains(75) ? 75 : ends.contains(1) ? 1 : 0;
    }

    private static int await(Sending sending, long end) throws InterruptedException {
        try {
            MobileNotificationResponse answer =
                    sending.outcome.get(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
            System.out.println((answer.getStatus() + " " + printable(answer.getReason())).strip());
            return answer.getStatus() == Status.DELIVERED ? 0 : 1;
        } catch (TimeoutException error) {
            System.out.println(sending.first.isDone() ? "STORED, and the node goes on trying" : "no answer");
            return sending.first.isDone() || sending.writtenTo != null && !sending.isHeld ? 3 : 75;
        } catch (ExecutionException error) {
            System.out.println("given up: " + error.getCause().getMessage());
            return 1;
        }
    }

    private static MobileNotificationRequest.Builder request(PairingToken phone, byte[] key, String title, String text)
            throws GeneralSecurityException {
        if (key != null) {
            String json = json("id", UUID.randomUUID().toString(), "title", title, "message", text,
                    "category", "trade_update");
            return alert(phone.platform(), phone.deviceToken(), seal(json, key)).setMutableContent(true);
        }
        String json = json("sentDate", System.currentTimeMillis(), "txId", "", "title", title, "message", text,
                "type", "TRADE", "actionRequired", "", "version", 1);
        return alert(phone.platform(), phone.deviceToken(), phone.seal(json)).setContentAvailable(true);
    }

    private static byte[] key(String text) {
        if (!text.matches("[A-Za-z0-9+/]{43}=")) {
            throw new IllegalArgumentException("no key of Bisq 2's: 32 bytes in Base64");
        }
        return Base64.getDecoder().decode(text);
    }

    private static int number(Map<String, String> options, String name) {
        if (!options.get(name).matches("[1-9][0-9]{0,5}")) throw new IllegalArgumentException(name + " takes a number");
        return Integer.parseInt(options.get(name));
    }
}
